//! Whole GEMMs through the fake cuBLASLt.

mod common;

use common::{run, run_in, temporary};

fn line(id: &str, a: &str, out: &str, more: &str) -> String {
    // A: 16 x 16, row r all 2^(r % 3); B: column c ones at k <= c.
    let a_row = |r: usize| if a == "e4m3" { ["38", "40", "48"][r % 3] } else { ["3c", "40", "44"][r % 3] };
    let words_a: String = (0..16).flat_map(|r| std::iter::repeat_n(a_row(r), 16)).collect();
    let words_b: String = (0..16).flat_map(|c| (0..16).map(move |k| if k <= c { "38" } else { "00" })).collect();
    format!(
        r#"{{"id":"{id}","m":16,"n":16,"k":16,"a":"{a}","b":"e4m3","out":"{out}","fast":true,"wordsA":"{words_a}","wordsB":"{words_b}"{more}}}"#
    ) + "\n"
}

#[test]
fn records_words_and_the_algorithm() {
    let input = line("f32", "e4m3", "f32", "")
        + &line("bf16", "e5m2", "bf16", r#","scaleA":"40000000","scaleB":"3f000000","workspace":33554432"#);
    let r = run("sm=90", &["gemm"], input.as_bytes());
    assert_eq!(r.code, 0, "{}", r.err);
    let lines = r.json();
    assert_eq!(lines[0]["bitmmaGemms"], 1);
    assert_eq!(lines[0]["provenance"]["cublasLt"], "12.8.3");
    assert_eq!(lines[0]["provenance"]["computeCapability"], "9.0");
    for (l, width) in [(&lines[1], 4), (&lines[2], 2)] {
        let hex = l["d"].as_str().unwrap();
        assert_eq!(hex.len(), 2 * width * 256);
        for row in 0..16 {
            for col in 0..16 {
                let at = (row * 16 + col) * width * 2;
                let bytes: Vec<u8> =
                    (0..width).map(|i| u8::from_str_radix(&hex[at + 2 * i..at + 2 * i + 2], 16).unwrap()).collect();
                let word = if width == 4 {
                    u32::from_le_bytes(bytes.try_into().unwrap())
                } else {
                    u32::from(u16::from_le_bytes(bytes.try_into().unwrap())) << 16
                };
                assert_eq!(f32::from_bits(word), ((col + 1) << (row % 3)) as f32, "row {row}, column {col}");
            }
        }
        let a = &l["algorithm"];
        assert_eq!(
            (&a["id"], &a["tile"], &a["splitK"], &a["reductionScheme"]),
            (&66.into(), &20.into(), &3.into(), &1.into())
        );
        assert_eq!(
            (&a["customOption"], &a["stages"], &a["clusterShape"], &a["waves"]),
            (&2.into(), &35.into(), &2.into(), &0.5.into())
        );
        assert_eq!((&a["workspace"], &l["evidence"]), (&4096.into(), &"recorded".into()));
    }
}

#[test]
fn seeds_stand_for_operands() {
    let seeded = r#"{"id":"s","m":16,"n":32,"k":64,"a":"e4m3","b":"e5m2","out":"f32","fast":false,"seed":7}"#;
    let twice = format!("{seeded}\n{}\n", seeded.replace("\"id\":\"s\"", "\"id\":\"t\""));
    let r = run("sm=90", &["gemm"], twice.as_bytes());
    assert_eq!(r.code, 0, "{}", r.err);
    let lines = r.json();
    assert_eq!((lines[1]["d"].as_str(), lines[1]["seed"].as_u64()), (lines[2]["d"].as_str(), Some(7)));
    assert!(!lines[1]["d"].as_str().unwrap().contains("0000c07f"), "a seeded operand is finite");
}

#[test]
fn refusals_are_results_and_errors_are_told() {
    let both = r#"{"id":"r","m":16,"n":16,"k":16,"a":"e5m2","b":"e5m2","out":"f32","fast":true,"seed":1}"#;
    let r = run("sm=90", &["gemm"], (both.to_string() + "\n" + &line("ok", "e4m3", "f32", "")).as_bytes());
    assert_eq!(r.code, 0, "{}", r.err);
    assert!(r.json()[1]["refused"].as_str().unwrap().contains("does not support this GEMM"));
    assert!(r.err.contains("1 GEMMs recorded") && r.err.contains("1 refused"), "{}", r.err);
    for (text, why) in [
        (r#"{"id":"x","m":0,"n":16,"k":16}"#, "m: expected an integer of 1 or more, got 0"),
        (r#"{"id":"x","m":16,"n":16,"k":16,"a":"f16"}"#, "a: expected one of e4m3, e5m2, got f16"),
        (
            r#"{"id":"x","m":1,"n":1,"k":1,"a":"e4m3","b":"e4m3","out":"f32","fast":true,"wordsA":"00"}"#,
            "wordsB: expected hex bytes",
        ),
    ] {
        let r = run("sm=90", &["gemm"], text.as_bytes());
        assert_eq!(r.code, 2);
        assert!(r.err.contains(&format!("standard input:1: {why}")), "{}", r.err);
    }
    let r = run("sm=90,fault=launch", &["gemm"], line("f", "e4m3", "f32", "").as_bytes());
    assert_eq!(r.code, 4);
    assert!(r.err.contains("cublasLtMatmul failed: cuBLAS status 14"), "{}", r.err);
    let r = run("devices=0", &["gemm"], line("f", "e4m3", "f32", "").as_bytes());
    assert_eq!(r.code, 3);
    // A driver without cuBLASLt beside it.
    let folder = temporary("no-blas");
    let library = std::fs::read_link(common::fake_libraries().join("libcuda.so.1")).unwrap();
    std::os::unix::fs::symlink(library, folder.join("libcuda.so.1")).unwrap();
    let r = run_in(&folder, "sm=90", &["gemm"], line("f", "e4m3", "f32", "").as_bytes());
    assert_eq!(r.code, 3);
    assert!(r.err.contains("cuBLASLt could not be loaded") && r.err.contains("LD_LIBRARY_PATH"), "{}", r.err);
}
