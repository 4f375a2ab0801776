//! Every instruction's probes, and where the documentation says that each k position lies.

mod common;

use bitmma_hw::format::Format;
use bitmma_hw::instruction::Instruction;
use common::{line, run, temporary};

#[test]
fn every_instruction_of_a_generation_probes() {
    for (machine, least) in [("sm=70", 3), ("sm=75", 13), ("sm=80", 36), ("sm=89", 52), ("sm=90", 75), ("sm=120", 134)]
    {
        let r = run(machine, &["probe", "--api", "cuda"], b"");
        assert_eq!(r.code, 0, "{machine}: {}", r.err);
        assert_eq!(r.json().len(), least, "{machine}");
    }
    for (machine, count) in [("gfx=gfx908", 20), ("gfx=gfx90a", 27), ("gfx=gfx942", 32)] {
        let r = run(machine, &["probe", "--api", "hip"], b"");
        assert_eq!(r.code, 0, "{machine}: {}", r.err);
        assert_eq!(r.json().len(), count, "{machine}: {}", r.text());
    }
}

/// One tcgen05 form of each kind and packing; the rest differ by operand types alone.
fn tcgen05_sample() -> Vec<String> {
    let f8f6f4 = ["e4m3.e5m2", "e2m3.e3m2", "e3m2.e2m1", "e2m1.e4m3"];
    let mut out = Vec::new();
    for sp in ["", ".sp"] {
        for form in [
            "kind::tf32.f32.tf32.tf32",
            "kind::f16.f16.f16.f16",
            "kind::f16.f32.bf16.bf16",
            "kind::i8.s32.u8.s8.satfinite",
        ] {
            out.push(format!("tcgen05.mma{sp}.{form}"));
        }
        for types in f8f6f4 {
            out.push(format!("tcgen05.mma{sp}.kind::f8f6f4.f32.{types}"));
            out.push(format!("tcgen05.mma{sp}.kind::mxf8f6f4.block_scale.f32.{types}.ue8m0"));
        }
        for form in [
            "mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.ue8m0",
            "mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.ue4m3",
        ] {
            out.push(format!("tcgen05.mma{sp}.kind::{form}"));
        }
    }
    out
}

#[test]
fn tcgen05_probes() {
    let names = tcgen05_sample();
    let mut input = String::new();
    for name in &names {
        let i = Instruction::parse(name).unwrap();
        let zeros = vec!["0"; i.k].join(" ");
        let mut case: serde_json::Value =
            serde_json::from_str(&line("z", name, &zeros, &zeros, &format!("{:x}", i.c.one()))).unwrap();
        if let Some(s) = i.scaling {
            let ones = vec![format!("{:x}", s.format.one()); i.scale_words()].join(" ");
            case["scaleA"] = ones.clone().into();
            case["scaleB"] = ones.into();
        }
        if i.sparsity.is_some() {
            case["sparse"] = vec!["44444444"; i.sparse_words()].into();
        }
        input += &format!("{case}\n");
    }
    // Preparing an instruction runs its probes.
    let report = temporary("tcgen05").join("report.json");
    let r = run("sm=100", &["record", "--report", &report.to_string_lossy()], input.as_bytes());
    assert_eq!(r.code, 0, "{}", r.err);
    assert_eq!(r.json().len(), names.len() + 1);
    let report: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(report).unwrap()).unwrap();
    for name in &names {
        let of = &report["instructions"][name];
        assert!(of["misplaced"].is_null(), "{}", of["misplaced"]);
        assert_eq!(of["probes"], Instruction::parse(name).unwrap().k + 1);
    }
}

/// Where c is 1024 the fake counts the product of position k k + 1 times: a live product at k must be answered by k + 1, so every
/// stored position is where the documentation says.
#[test]
fn positions_are_the_documented_ones() {
    for (machine, names) in [
        ("sm=90,weigh=1", bitmma_hw::forms::mma_sync_names()),
        ("sm=90,weigh=1", bitmma_hw::forms::wgmma_names(16)),
        ("sm=120,weigh=1", bitmma_hw::forms::mma_sync_names()),
        ("sm=100,weigh=1", tcgen05_sample()),
        ("gfx=gfx90a,weigh=1,devices=1", bitmma_hw::forms::mfma_names()),
        ("gfx=gfx942,weigh=1,devices=1", bitmma_hw::forms::mfma_names()),
    ] {
        let mut input = String::new();
        let mut cases = 0;
        for name in names {
            let i = Instruction::parse(&name).unwrap();
            if i.scaling.is_some() {
                continue;
            }
            for k in (0..i.k).step_by(if i.k > 8 { 5 } else { 1 }) {
                let words = |f: Format| {
                    let mut w = vec!["0".to_string(); i.k];
                    w[k] = format!("{:x}", f.one());
                    w.join(" ")
                };
                let mut case: serde_json::Value = serde_json::from_str(&line(
                    &format!("{k}"),
                    &name,
                    &words(i.a),
                    &words(i.b),
                    &format!("{:x}", i.c.small_integer(1024)),
                ))
                .unwrap();
                if let Some(rule) = i.sparsity {
                    // Every chunk keeps its positions 1 (of 2) or 1 and 2 (pairs 1 and 2).
                    let selector = if rule.chunk() == 2 { "eeeeeeee" } else { "99999999" };
                    let kept = match rule.chunk() {
                        2 => k % 2 == 1,
                        4 => [1, 2].contains(&(k % 4)),
                        _ => (2..6).contains(&(k % 8)),
                    };
                    if !kept {
                        continue;
                    }
                    case["sparse"] = vec![selector; i.sparse_words()].into();
                }
                input += &format!("{case}\n");
                cases += 1;
            }
        }
        let api = if machine.starts_with("gfx") { "hip" } else { "cuda" };
        let r = run(machine, &["record", "--skip-unsupported", "--api", api], input.as_bytes());
        assert_eq!(r.code, 0, "{}", r.err);
        let mut checked = 0;
        for l in &r.json()[1..] {
            let k: u32 = l["id"].as_str().unwrap().parse().unwrap();
            let i = Instruction::parse(l["instruction"].as_str().unwrap()).unwrap();
            assert_eq!(
                u64::from_str_radix(l["d"].as_str().unwrap(), 16).unwrap(),
                i.d.small_integer(1024 + k + 1),
                "{} at {k}",
                i.name
            );
            checked += 1;
        }
        assert!(checked > 60 && cases >= checked, "{checked} of {cases}");
    }
}
