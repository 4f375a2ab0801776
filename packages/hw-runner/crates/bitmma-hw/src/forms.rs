//! Every instruction that has a kernel, by canonical identifier: what `list` prints and the tests walk through.

use crate::format::Format;
use crate::kernel::Arch;
use crate::layout::mfma;

const FP8: [Format; 2] = [Format::E4m3, Format::E5m2];
const F8F6F4: [Format; 5] = [Format::E4m3, Format::E5m2, Format::E2m3, Format::E3m2, Format::E2m1];
const I8: [Format; 2] = [Format::S8, Format::U8];

fn pairs(formats: &[Format]) -> Vec<(&'static str, &'static str)> {
    formats.iter().flat_map(|a| formats.iter().map(|b| (a.token(), b.token()))).collect()
}

pub fn mma_sync_names() -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for (d, c) in [("f32", "f32"), ("f32", "f16"), ("f16", "f16")] {
        out.push(format!("mma.sync.m8n8k4.{d}.f16.f16.{c}"));
    }
    for k in [8, 16] {
        for d in ["f32", "f16"] {
            out.push(format!("mma.sync.m16n8k{k}.{d}.f16.f16.{d}"));
        }
        out.push(format!("mma.sync.m16n8k{k}.f32.bf16.bf16.f32"));
    }
    for k in [4, 8] {
        out.push(format!("mma.sync.m16n8k{k}.f32.tf32.tf32.f32"));
    }
    out.push("mma.sync.m8n8k4.f64.f64.f64.f64".into());
    for k in [4, 8, 16] {
        out.push(format!("mma.sync.m16n8k{k}.f64.f64.f64.f64"));
    }
    for (a, b) in pairs(&FP8) {
        for k in [16, 32] {
            for d in ["f32", "f16"] {
                out.push(format!("mma.sync.m16n8k{k}.{d}.{a}.{b}.{d}"));
            }
        }
    }
    for (a, b) in pairs(&I8) {
        for shape in ["m8n8k16", "m16n8k16", "m16n8k32"] {
            for sat in ["", ".satfinite"] {
                out.push(format!("mma.sync.{shape}{sat}.s32.{a}.{b}.s32"));
            }
        }
    }
    for (a, b) in pairs(&F8F6F4) {
        for d in ["f32", "f16"] {
            out.push(format!("mma.sync.m16n8k32.kind::f8f6f4.{d}.{a}.{b}.{d}"));
        }
        out.push(format!("mma.sync.m16n8k32.kind::mxf8f6f4.block_scale.f32.{a}.{b}.f32.ue8m0"));
    }
    for (kind, vec, stype) in
        [("mxf4", 2, "ue8m0"), ("mxf4nvf4", 2, "ue8m0"), ("mxf4nvf4", 4, "ue8m0"), ("mxf4nvf4", 4, "ue4m3")]
    {
        out.push(format!("mma.sync.m16n8k64.kind::{kind}.block_scale.scale_vec::{vec}X.f32.e2m1.e2m1.f32.{stype}"));
    }
    out
}

pub fn wgmma_names(n: usize) -> Vec<String> {
    let mut out = Vec::new();
    for d in ["f32", "f16"] {
        out.push(format!("wgmma.mma_async.m64n{n}k16.{d}.f16.f16"));
    }
    out.push(format!("wgmma.mma_async.m64n{n}k16.f32.bf16.bf16"));
    out.push(format!("wgmma.mma_async.m64n{n}k8.f32.tf32.tf32"));
    for (a, b) in pairs(&FP8) {
        for d in ["f32", "f16"] {
            out.push(format!("wgmma.mma_async.m64n{n}k32.{d}.{a}.{b}"));
        }
    }
    for (a, b) in pairs(&I8) {
        for sat in ["", ".satfinite"] {
            out.push(format!("wgmma.mma_async.m64n{n}k32{sat}.s32.{a}.{b}"));
        }
    }
    out
}

pub fn tcgen05_names() -> Vec<String> {
    let mut out = Vec::new();
    for sp in ["", ".sp"] {
        let p = format!("tcgen05.mma{sp}");
        out.push(format!("{p}.kind::tf32.f32.tf32.tf32"));
        for d in ["f32", "f16"] {
            out.push(format!("{p}.kind::f16.{d}.f16.f16"));
        }
        out.push(format!("{p}.kind::f16.f32.bf16.bf16"));
        for (a, b) in pairs(&F8F6F4) {
            for d in ["f32", "f16"] {
                out.push(format!("{p}.kind::f8f6f4.{d}.{a}.{b}"));
            }
        }
        for (a, b) in pairs(&I8) {
            for sat in ["", ".satfinite"] {
                out.push(format!("{p}.kind::i8.s32.{a}.{b}{sat}"));
            }
        }
        for (a, b) in pairs(&F8F6F4) {
            out.push(format!("{p}.kind::mxf8f6f4.block_scale.f32.{a}.{b}.ue8m0"));
        }
        for (kind, vec, stype) in
            [("mxf4", 2, "ue8m0"), ("mxf4nvf4", 2, "ue8m0"), ("mxf4nvf4", 4, "ue8m0"), ("mxf4nvf4", 4, "ue4m3")]
        {
            out.push(format!("{p}.kind::{kind}.block_scale.scale_vec::{vec}X.f32.e2m1.e2m1.{stype}"));
        }
    }
    out
}

/// The names that the catalog uses: CDNA1/2's spelling for gfx908 and gfx90a, CDNA3's for gfx942.
pub fn mfma_names() -> Vec<String> {
    let mut out = Vec::new();
    for form in &mfma::FORMS {
        let [old, new] = form.names();
        if form.targets.iter().any(|t| *t != "gfx942") {
            out.push(old.clone());
        }
        if form.targets.contains(&"gfx942") && !out.contains(&new) {
            out.push(new);
        }
    }
    out
}

/// Names to walk through on a device: each instruction once, in the spelling of its generation.
pub fn names_for(arch: &Arch) -> Vec<String> {
    match arch {
        Arch::Sm(_) => cuda_names(),
        Arch::Gfx(gfx) => mfma::FORMS.iter().map(|f| f.names()[usize::from(gfx == "gfx942")].clone()).collect(),
    }
}

fn cuda_names() -> Vec<String> {
    let mut out = mma_sync_names();
    out.extend(wgmma_names(8));
    out.extend(tcgen05_names());
    out
}

pub fn all_names() -> Vec<String> {
    let mut out = cuda_names();
    out.extend(mfma_names());
    out
}
