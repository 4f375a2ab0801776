//! Every word of the hardware recordings, one test a set. Without the data the test says so and checks nothing.

use bitmma_kernel::cells::Cells;
use bitmma_kernel::events::Counts;
use bitmma_kernel::format::{self, Class, Format};
use bitmma_kernel::gemm::{Dots, dots};
use bitmma_kernel::program::Program;
use bitmma_kernel::spec::MmaOp;
use std::collections::HashMap;
use std::path::PathBuf;

fn folder() -> Option<PathBuf> {
    let default = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../../../shared");
    let data = std::env::var_os("BITMMA_DATA").map_or(default, PathBuf::from);
    let recordings = data.join("recordings");
    recordings.is_dir().then_some(recordings)
}

/// The words of `format` by the fp32 container of their value; a NaN by the canonical container.
fn by_container(format: &Format) -> HashMap<u32, u64> {
    let container = |word: u64| {
        let x = format.decode(word);
        let magnitude = match x.class {
            Class::Nan => f32::NAN,
            Class::Infinite => f32::INFINITY,
            Class::Finite => (x.sig as f64 * 2f64.powi(x.lsb)) as f32,
        };
        if x.negative { -magnitude } else { magnitude }.to_bits()
    };
    (0..1u64 << format.word_bits).map(|word| (container(word), word)).collect()
}

fn narrowed(lines: &str, format: &Format) -> Vec<u8> {
    let words = (format.word_bits <= 16).then(|| by_container(format));
    let narrow = |container: u32| match &words {
        None => container.into(),
        Some(words) => words[&container],
    };
    lines
        .split_whitespace()
        .map(|token| narrow(u32::from_str_radix(token, 16).unwrap()))
        .flat_map(|word| word.to_le_bytes()[..format.word_bytes()].to_vec())
        .collect()
}

/// fp32 word to fp16, RNE, an infinity where the magnitude is too large.
fn half(word: u32) -> u64 {
    let x = format::FP32.decode(word.into());
    let sign = if x.negative { 0x8000 } else { 0 };
    match x.class {
        Class::Nan => return sign | 0x7fff,
        Class::Infinite => return sign | 0x7c00,
        Class::Finite if x.sig == 0 => return sign,
        Class::Finite => {}
    }
    let lead = x.lsb + 63 - x.sig.leading_zeros() as i32;
    let quantum = lead.max(-14) - 10;
    let shift = (quantum - x.lsb).clamp(0, 40);
    let (kept, rest) = (x.sig >> shift, x.sig & ((1 << shift) - 1));
    let twice = 2 * rest;
    let up = twice > 1 << shift || (twice == 1 << shift && kept & 1 == 1);
    let kept = (kept + u64::from(up)) << (quantum - x.lsb - shift).min(0).unsigned_abs();
    if kept == 0 {
        return sign;
    }
    let word = if lead < -14 { kept } else { (((lead + 14) as u64) << 10) + kept };
    sign | word.min(0x7c00)
}

fn binary(lines: &str) -> Vec<u32> {
    lines.split_whitespace().map(|token| u32::from_str_radix(token, 2).unwrap()).collect()
}

struct Case {
    gpu: &'static str,
    folder: &'static str,
    format: &'static str,
    d: &'static str,
    k: usize,
    datapath: String,
    c: bool,
}

fn output(d: &str, precision: u32) -> String {
    match d {
        "fp16" => {
            r#"{"format":"fp16","rounding":"RNE","precision":10,"underflow":"positive","nan":"7fff"}"#.into()
        }
        _ => format!(
            r#"{{"format":"fp32","rounding":"RZ","precision":{precision},"underflow":"positive","nan":"7fffffff"}}"#
        ),
    }
}

fn window(block: usize, fraction: u32, floor: Option<i32>, d: &str, precision: u32) -> String {
    format!(
        r#"{{"kind":"fused-window","block":{block},"fraction":{fraction},"floor":{},"alignment":"RZ",
        "zeroAddendExponent":null,"productOverflow":null,"output":{}}}"#,
        floor.map_or("null".into(), |floor| floor.to_string()),
        output(d, precision)
    )
}

fn split(d: &str) -> String {
    let floor = if d == "fp16" { -21 } else { -133 };
    format!(
        r#"{{"kind":"split-window","block":16,"fraction":25,"floor":{floor},"alignment":"RZ","selectBit":1,
        "output":{},"addition":"RNE"}}"#,
        output(d, 23)
    )
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |gpu, folder, format, d, k, datapath, c| {
        cases.push(Case { gpu, folder, format, d, k, datapath, c });
    };
    let floor = |d: &str, fp32, fp16| Some(if d == "fp16" { fp16 } else { fp32 });
    for d in ["fp16", "fp32"] {
        let none = if d == "fp16" { Some(-19) } else { None };
        add("V100", "fp16", "fp16", d, 4, window(4, 23, none, d, 23), true);
        for gpu in ["A100", "Ada"] {
            add(gpu, "fp16", "fp16", d, 8, window(8, 24, floor(d, -132, -20), d, 23), true);
        }
        for gpu in ["H100", "B200"] {
            add(gpu, "fp16", "fp16", d, 16, window(16, 25, floor(d, -133, -21), d, 23), true);
        }
        for (folder, format) in [("E4M3", "e4m3"), ("E5M2", "e5m2")] {
            let ada = if d == "fp16" { None } else { Some(-132) };
            add("Ada", folder, format, d, 32, window(16, 13, ada, d, 13), true);
            add("B200", folder, format, d, 32, split(d), true);
            if d == "fp16" {
                add("H100", folder, format, d, 32, split(d), true);
            } else {
                add("H100", folder, format, d, 32, window(32, 13, Some(-133), d, 13), false);
            }
        }
    }
    for gpu in ["A100", "Ada"] {
        add(gpu, "bf16", "bf16", "fp32", 8, window(8, 24, Some(-132), "fp32", 23), true);
        add(gpu, "tf32", "tf32", "fp32", 4, window(4, 24, Some(-132), "fp32", 23), true);
    }
    for gpu in ["H100", "B200"] {
        add(gpu, "bf16", "bf16", "fp32", 16, window(16, 25, Some(-133), "fp32", 23), true);
        add(gpu, "tf32", "tf32", "fp32", 4, window(8, 25, Some(-133), "fp32", 23), true);
    }
    cases
}

#[test]
fn every_recorded_word() {
    let Some(recordings) = folder() else {
        println!("SKIPPED: no recordings; set BITMMA_DATA to the folder that holds them");
        return;
    };
    let mut words = 0;
    for Case { gpu, folder, format, d, k, datapath, c } in cases() {
        let json = format!(
            r#"{{"device":"custom","instruction":"{gpu} {format} {d}","shape":{{"m":1,"n":1,"k":{k},"blocks":1}},
            "a":"{format}","b":"{format}","c":"{d}","d":"{d}","k":{k},"datapath":{datapath},"scaling":null,
            "sparsity":null,"evidence":{{"level":"recorded","source":"recordings"}}}}"#
        );
        let program = Program::new(MmaOp::parse(&json).unwrap()).unwrap();
        let read = |name: String| {
            std::fs::read_to_string(recordings.join(gpu).join(folder).join(&name)).expect(&name)
        };
        let operand = |side: &str| narrowed(&read(format!("{side}_{gpu}_{folder}.txt")), program.op.a);
        let (a, b) = (operand("a"), operand("b"));
        let fit = |word: u32| if d == "fp16" { half(word) } else { word.into() };
        let bytes = program.op.d.word_bytes();
        let addends: Vec<u64> = binary(&read(format!("c_{gpu}_fp32.txt"))).into_iter().map(fit).collect();
        let expected: Vec<u64> = binary(&read(format!("d_{gpu}_{d}.txt"))).into_iter().map(fit).collect();
        let mut addend_words: Vec<u8> =
            addends.iter().flat_map(|word| word.to_le_bytes()[..bytes].to_vec()).collect();
        let mut results = vec![0u8; expected.len() * bytes];
        let cells = |words: &mut Vec<u8>| {
            // SAFETY: the vector outlives the batch, and nothing else touches it before the batch ends.
            unsafe { Cells::new(words.as_mut_ptr(), words.len(), 0, 1, 1) }
        };
        let batch = Dots {
            count: expected.len(),
            k,
            a: &a,
            b: &b,
            c: c.then(|| cells(&mut addend_words)),
            scale_a: None,
            scale_b: None,
            sparse: None,
            d: cells(&mut results),
        };
        batch.check(&program).unwrap();
        let mut counts = Counts::default();
        dots(&program, &batch, &mut counts);
        let got = |i: usize| batch.d.get(bytes, i, 0);
        let wrong: Vec<usize> = (0..expected.len()).filter(|&i| got(i) != expected[i]).collect();
        let first = wrong.first().map(|&i| format!("case {i}: expected {:x}, got {:x}", expected[i], got(i)));
        assert_eq!(first, None, "{gpu} {format} {d}: {} of {} words differ", wrong.len(), expected.len());
        words += expected.len();
    }
    println!("{words} recorded words equal");
    assert_eq!(words, 5000 * cases().len());
}
