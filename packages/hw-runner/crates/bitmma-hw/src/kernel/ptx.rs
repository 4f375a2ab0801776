//! What the PTX kernels share: targets, the entry point's frame, moves between global memory and registers.

use crate::format::Format;
use crate::instruction::{Family, Instruction, Kind};
use crate::layout::Registers;
use std::fmt::Write;

/// `.target` and the oldest `.version` that has the instruction there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    pub name: String,
    pub isa: &'static str,
}

fn target_of(name: &str, isa: &'static str) -> Target {
    Target { name: name.into(), isa }
}

/// The oldest target that has the instruction (the driver compiles it for the device), or the device's own where
/// the instruction belongs to one architecture alone (suffix a).
pub fn target(i: &Instruction, sm: u32) -> Result<Target, String> {
    let needs = |least: u32, isa: &'static str| {
        if sm >= least {
            Ok(target_of(&format!("sm_{least}"), isa))
        } else {
            Err(format!(
                "{} needs compute capability {}.{} or later, this device has {}.{}",
                i.name,
                least / 10,
                least % 10,
                sm / 10,
                sm % 10
            ))
        }
    };
    let only = |what: &str| {
        Err(format!("{} exists on {what} alone, this device has compute capability {}.{}", i.name, sm / 10, sm % 10))
    };
    match i.family {
        Family::MmaSync => match (i.kind, i.a, i.m, i.k) {
            (Kind::F8f6f4 | Kind::Mxf8f6f4 | Kind::Mxf4 | Kind::Mxf4nvf4, ..) => match sm {
                // ue8m0 with scale_vec::4X came with ISA 9.1.
                120 | 121 if i.scaling.is_some_and(|s| s.format == Format::Ue8m0 && s.block == 16) => {
                    Ok(target_of(&format!("sm_{sm}a"), "9.1"))
                }
                120 => Ok(target_of("sm_120a", "8.7")),
                121 => Ok(target_of("sm_121a", "8.8")),
                _ => only("compute capability 12.x"),
            },
            (_, Format::Fp16, 8, _) => needs(70, "6.4"),
            (_, Format::Fp16, _, 8) => needs(75, "6.5"),
            (_, Format::S8 | Format::U8, 8, _) => needs(75, "6.5"),
            (_, Format::Fp64, 16, _) => needs(90, "7.8"),
            (_, Format::E4m3 | Format::E5m2, _, 32) if i.d == Format::Fp32 => needs(89, "8.4"),
            (_, Format::E4m3 | Format::E5m2, ..) => needs(89, "8.7"),
            _ => needs(80, "7.0"),
        },
        Family::Wgmma => match sm {
            90 if i.a != i.b && i.d == Format::S32 => Ok(target_of("sm_90a", "8.4")),
            90 => Ok(target_of("sm_90a", "8.0")),
            _ => only("compute capability 9.0"),
        },
        Family::Tcgen05 => match (sm, i.kind) {
            (100, Kind::Mxf4nvf4) => Ok(target_of("sm_100a", "8.7")),
            (100, _) => Ok(target_of("sm_100a", "8.6")),
            (103, Kind::I8) => only("compute capability 10.0"),
            (103, _) => Ok(target_of("sm_103a", "8.8")),
            _ => only("compute capability 10.x"),
        },
        Family::Mfma => Err("an MFMA needs an AMD device".into()),
    }
}

/// A PTX entry under construction. Registers: %in and %out address this block's images, %thread the thread,
/// %ina and %outa this thread's first register in them.
pub struct Body {
    text: String,
    b32: usize,
    b64: usize,
}

impl Body {
    pub fn new() -> Body {
        Body { text: String::new(), b32: 0, b64: 0 }
    }

    pub fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "  {line}");
    }

    /// A fresh 32- or 64-bit register.
    pub fn register(&mut self, bytes: usize) -> String {
        let (count, prefix) = if bytes == 8 { (&mut self.b64, "%d") } else { (&mut self.b32, "%r") };
        *count += 1;
        format!("{prefix}{}", *count - 1)
    }

    /// Loads this lane's registers of a register file from the input image.
    pub fn load(&mut self, file: &Registers) -> Vec<String> {
        let mut names = Vec::new();
        for r in 0..file.count {
            let name = self.register(file.bytes);
            let base = if file.bytes == 8 { "%ind" } else { "%ina" };
            let offset = file.base + r * file.lanes * file.bytes;
            self.line(&format!("ld.global.b{} {name}, [{base}+{offset}];", 8 * file.bytes));
            names.push(name);
        }
        names
    }

    /// Stores this lane's registers to the output image.
    pub fn store(&mut self, file: &Registers, names: &[String]) {
        for (r, name) in names.iter().enumerate() {
            let base = if file.bytes == 8 { "%outd" } else { "%outa" };
            let offset = file.base + r * file.lanes * file.bytes;
            self.line(&format!("st.global.b{} [{base}+{offset}], {name};", 8 * file.bytes));
        }
    }

    /// Copies `bytes` (a multiple of 4) of the input image to shared memory `smem`, `threads` at a time.
    pub fn copy_to_shared(&mut self, bytes: usize, threads: usize) {
        let words = bytes / 4;
        self.line("mov.u32 %smem, smem;");
        self.line("shl.b32 %t4, %thread, 2;");
        self.line("add.u32 %sa, %smem, %t4;");
        for step in 0..words.div_ceil(threads) {
            let left = words - step * threads;
            let guard = if left < threads {
                self.line(&format!("setp.lt.u32 %p0, %thread, {left};"));
                "@%p0 "
            } else {
                ""
            };
            let r = self.register(4);
            self.line(&format!("{guard}ld.global.b32 {r}, [%ina+{}];", step * threads * 4));
            self.line(&format!("{guard}st.shared.b32 [%sa+{}], {r};", step * threads * 4));
        }
    }

    /// The whole module. `shared`: bytes of the buffer `smem`; `declarations`: more registers or variables.
    pub fn module(
        self,
        target: &Target,
        input_bytes: usize,
        output_bytes: usize,
        threads: u32,
        shared: usize,
        declarations: &str,
    ) -> String {
        let mut out = String::new();
        let _ = write!(
            out,
            ".version {}\n.target {}\n.address_size 64\n\n\
             .visible .entry bitmma(.param .u64 input, .param .u64 output, .param .u32 count)\n.maxntid {threads}, 1, 1\n{{\n",
            target.isa, target.name
        );
        if shared > 0 {
            let _ = writeln!(out, "  .shared .align 128 .b8 smem[{shared}];");
        }
        out.push_str(declarations);
        if self.b32 > 0 {
            let _ = writeln!(out, "  .reg .b32 %r<{}>;", self.b32);
        }
        if self.b64 > 0 {
            let _ = writeln!(out, "  .reg .b64 %d<{}>;", self.b64);
        }
        out.push_str(
            "  .reg .pred %p0, %done;\n  .reg .b32 %thread, %case, %count, %smem, %sa, %t4;\n  \
             .reg .b64 %in, %out, %ina, %outa, %ind, %outd;\n  \
             mov.u32 %case, %ctaid.x;\n  ld.param.u32 %count, [count];\n  setp.ge.u32 %done, %case, %count;\n  \
             @%done ret;\n  mov.u32 %thread, %tid.x;\n  ld.param.u64 %in, [input];\n  ld.param.u64 %out, [output];\n",
        );
        let _ = write!(
            out,
            "  mad.wide.u32 %in, %case, {input_bytes}, %in;\n  mad.wide.u32 %out, %case, {output_bytes}, %out;\n  \
             mad.wide.u32 %ina, %thread, 4, %in;\n  mad.wide.u32 %outa, %thread, 4, %out;\n  \
             mad.wide.u32 %ind, %thread, 8, %in;\n  mad.wide.u32 %outd, %thread, 8, %out;\n"
        );
        out.push_str(&self.text);
        out.push_str("  ret;\n}\n");
        out
    }
}

impl Default for Body {
    fn default() -> Body {
        Body::new()
    }
}

/// `{%r0, %r1}`, as PTX writes a vector operand.
pub fn vector(names: &[String]) -> String {
    format!("{{{}}}", names.join(", "))
}
