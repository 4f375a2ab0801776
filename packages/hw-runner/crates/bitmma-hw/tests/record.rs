//! The whole executable against the fake driver: load, launch, copy back, faults.

mod common;

use bitmma_hw::format::Format;
use common::{line, run, run_file, run_in, run_with, temporary};
use std::time::Instant;

const FP16: &str = "mma.sync.m16n8k8.f32.f16.f16.f32";

/// `count` cases of FP16: a[0] * b[0] with a[0] = 1, 2, 3, … small integers, c = 1.
fn cases(count: usize) -> String {
    (0..count)
        .map(|i| {
            let a = Format::Fp16.small_integer(i as u32 % 1000);
            line(&format!("case-{i}"), FP16, &format!("{a:04x} 0 0 0 0 0 0 0"), "3c00 0 0 0 0 0 0 0", "3f800000")
        })
        .collect()
}

fn expected(i: usize) -> String {
    format!("{:08x}", Format::Fp32.small_integer(i as u32 % 1000 + 1))
}

#[test]
fn records_jsonl_on_pipes() {
    let r = run("sm=80,gpu=NVIDIA A100-SXM4-40GB", &["record"], cases(300).as_bytes());
    assert_eq!(r.code, 0, "{}", r.err);
    let lines = r.json();
    assert_eq!(lines.len(), 301);
    let p = &lines[0]["provenance"];
    assert_eq!(lines[0]["bitmmaVectors"], 1);
    assert_eq!((p["gpu"].as_str(), p["computeCapability"].as_str()), (Some("NVIDIA A100-SXM4-40GB"), Some("8.0")));
    assert_eq!((p["toolkit"].as_str(), p["evidence"].as_str()), (Some("CUDA 12.8"), Some("recorded")));
    assert!(p["date"].as_str().is_some_and(|d| d.ends_with('Z')) && p["driver"].is_string());
    for (i, case) in lines[1..].iter().enumerate() {
        assert_eq!(case["id"], format!("case-{i}"));
        assert_eq!(case["device"], "a100");
        assert_eq!(case["d"], expected(i));
    }
    assert!(r.err.contains("300 cases recorded on NVIDIA A100-SXM4-40GB, 0 position failures, 0 left out"));
}

#[test]
fn both_forms_on_files_agree() {
    let folder = temporary("forms");
    let file = |name: &str| folder.join(name).to_string_lossy().into_owned();
    std::fs::write(file("in.jsonl"), cases(50)).unwrap();
    let args = [
        "record",
        "--in",
        &file("in.jsonl"),
        "--out",
        &file("out.bmv"),
        "--format",
        "binary",
        "--report",
        &file("report.json"),
    ];
    let r = run("sm=90", &args, b"");
    assert_eq!(r.code, 0, "{}", r.err);
    // The binary recording is an input itself; recording it again as JSON Lines gives the same words.
    let r =
        run("sm=90", &["record", "--in", &file("out.bmv"), "--out", &file("again.jsonl"), "--format", "jsonl"], b"");
    assert_eq!(r.code, 0, "{}", r.err);
    let text = std::fs::read_to_string(file("again.jsonl")).unwrap();
    let lines: Vec<serde_json::Value> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!(lines.len(), 51);
    for (i, case) in lines[1..].iter().enumerate() {
        assert_eq!(
            (case["id"].as_str(), case["d"].as_str()),
            (Some(i.to_string().as_str()), Some(expected(i).as_str()))
        );
    }
    let report: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(file("report.json")).unwrap()).unwrap();
    assert_eq!(report["device"]["id"], "h100");
    assert_eq!(report["instructions"][FP16]["cases"], 50);
    assert_eq!(report["instructions"][FP16]["probes"], 9);
}

#[test]
fn longer_cases_chain() {
    // 20 positions: three instructions, the last padded; d = c + sum.
    let ones = vec!["3c00"; 20].join(" ");
    let r = run("sm=80", &["record"], line("chain", FP16, &ones, &ones, "40000000").as_bytes());
    assert_eq!(r.code, 0, "{}", r.err);
    assert_eq!(r.json()[1]["d"], "41b00000");
    let r = run(
        "sm=80",
        &["record"],
        line("no-chain", "mma.sync.m8n8k4.f32.f16.f16.f16", "0 0 0 0 0", "0 0 0 0 0", "0").as_bytes(),
    );
    assert_eq!(r.code, 2);
    assert!(r.err.contains("standard input:1: a: expected 4 words (c and d differ in format"), "{}", r.err);
}

#[test]
fn bad_input_is_told_before_the_device_is_touched() {
    for (text, why) in [
        ("{\n", "standard input:1: expected one JSON object"),
        (
            &line("x", "mma.sync.m16n8k7.f32.f16.f16.f32", "0", "0", "0"),
            "instruction mma.sync.m16n8k7.f32.f16.f16.f32: not a form",
        ),
        (&line("x", FP16, "0 0 0 0 0 0 0 10000", "0 0 0 0 0 0 0 0", "0"), "a: expected words of 16 bits"),
    ] {
        let r = run("devices=0", &["record"], text.as_bytes());
        assert_eq!(r.code, 2, "{}", r.err);
        assert!(r.err.contains(why), "{}", r.err);
    }
    assert_eq!(run("sm=80", &["record", "--in", "/nonexistent"], b"").code, 2);
    assert_eq!(run("sm=80", &["recrod"], b"").code, 2);
    assert_eq!(run("sm=80", &["record", "--gpu", "one"], b"").code, 2);
    assert_eq!(run("sm=80", &["--help"], b"").code, 0);
}

#[test]
fn no_driver_no_device_wrong_architecture() {
    let empty = temporary("none");
    let r = run_in(&empty, "", &["record"], cases(1).as_bytes());
    assert_eq!(r.code, 3);
    assert!(r.err.contains("the CUDA driver could not be loaded") && r.err.contains("libcuda.so.1"), "{}", r.err);
    let r = run("devices=0", &["record", "--api", "cuda"], cases(1).as_bytes());
    assert_eq!(r.code, 3);
    assert!(r.err.contains("sees no device") && r.err.contains("nvidia-smi"), "{}", r.err);
    let r = run("sm=80", &["record", "--api", "cuda", "--gpu", "3"], cases(1).as_bytes());
    assert_eq!(r.code, 3);
    assert!(r.err.contains("there is no CUDA device 3, the driver sees 1"), "{}", r.err);
    let r = run("fault=init", &["record", "--api", "cuda"], cases(1).as_bytes());
    assert_eq!(r.code, 3);
    assert!(r.err.contains("cuInit failed: 3 (CUDA_ERROR_NOT_INITIALIZED"), "{}", r.err);
    let r = run("sm=70", &["record"], cases(1).as_bytes());
    assert_eq!(r.code, 3);
    assert!(r.err.contains("needs compute capability 7.5 or later, this device has 7.0"), "{}", r.err);
    let wgmma = line("w", "wgmma.mma_async.m64n8k8.f32.tf32.tf32", "0 0 0 0 0 0 0 0", "0 0 0 0 0 0 0 0", "0");
    let r = run("sm=100", &["record"], (wgmma.clone() + &cases(2)).as_bytes());
    assert_eq!(r.code, 3);
    assert!(r.err.contains("exists on compute capability 9.0 alone"), "{}", r.err);
    let r = run("sm=100", &["record", "--skip-unsupported"], (wgmma + &cases(2)).as_bytes());
    assert_eq!((r.code, r.json().len()), (0, 3));
    assert!(r.err.contains("2 cases recorded") && r.err.contains("1 left out"), "{}", r.err);
}

#[test]
fn a_faulting_kernel_keeps_the_finished_cases() {
    // Launches 0 and 1 are the probes, 2.. the batches of 10.
    for (fault, why) in
        [("sync", "the kernel failed: 719 (CUDA_ERROR_LAUNCH_FAILED"), ("launch", "the kernel launch failed: 719")]
    {
        let r = run_file(&format!("sm=80,fault={fault},after=4"), &["record", "--batch", "10"], &cases(40));
        assert_eq!(r.code, 4, "{}", r.err);
        assert!(r.err.contains(why) && r.err.contains("20 finished cases are kept"), "{}", r.err);
        let lines = r.json();
        assert_eq!(lines.len(), 21);
        assert_eq!(lines[20]["d"], expected(19));
    }
    let r = run_file("sm=80,fault=load", &["record"], &cases(1));
    assert_eq!(r.code, 4);
    assert!(
        r.err.contains("could not compile the kernel for sm_75: 218 (CUDA_ERROR_INVALID_PTX")
            && r.err.contains("a fault was asked for")
    );
    let r = run_file("sm=80,fault=memory", &["record"], &cases(1));
    assert_eq!(r.code, 4);
    assert!(r.err.contains("cuMemAlloc of") && r.err.contains("OUT_OF_MEMORY"), "{}", r.err);
}

#[test]
fn a_hang_is_noticed() {
    let start = Instant::now();
    let r = run_file("sm=80,fault=hang,after=3", &["record", "--batch", "10", "--timeout", "1"], &cases(40));
    assert_eq!(r.code, 4, "{}", r.err);
    assert!(
        r.err.contains("running a kernel gave no answer within 1 s") && r.err.contains("10 finished cases are kept"),
        "{}",
        r.err
    );
    assert_eq!(r.json().len(), 11);
    let r = run_file("sm=80,fault=hang-init", &["record", "--api", "cuda", "--timeout", "0.5"], &cases(1));
    assert_eq!(r.code, 4);
    assert!(r.err.contains("opening the device gave no answer within 0.5 s"), "{}", r.err);
    assert!(start.elapsed().as_secs() < 30);
}

#[test]
fn outputs_that_disagree_are_reported_apart() {
    let folder = temporary("faults");
    let faults = folder.join("faults.jsonl").to_string_lossy().into_owned();
    let r = run_file("sm=80,corrupt=50", &["record", "--faults", &faults], &cases(200));
    assert_eq!(r.code, 6, "{}", r.err);
    assert!(r.err.contains("196 cases recorded") && r.err.contains("4 position failures"), "{}", r.err);
    let lines = r.json();
    assert_eq!(lines.len(), 197);
    assert!(lines.iter().all(|l| l["id"] != "case-0" && l["id"] != "case-150"));
    let faults = std::fs::read_to_string(faults).unwrap();
    let first: serde_json::Value = serde_json::from_str(faults.lines().nth(1).unwrap()).unwrap();
    assert_eq!((first["fault"].as_str(), first["id"].as_str()), (Some("position"), Some("case-50")));
    assert_eq!(first["words"][0]["word"], expected(50).trim_start_matches('0'));
    assert_eq!(
        (&first["words"][0]["elements"], &first["words"][1]["elements"]),
        (&serde_json::json!(127), &serde_json::json!(1))
    );
    assert_eq!(first["words"][1]["first"], serde_json::json!([0, 15, 7]));
}

#[test]
fn a_wrong_layout_fails_its_probe_and_counts_nothing() {
    let r = run("sm=80,k-swap=1", &["record"], cases(5).as_bytes());
    assert_eq!(r.code, 5, "{}", r.err);
    assert!(r.err.contains("probe 'lane 0' must give 3f800000 in every output element, but every output element gave 0; no case was counted"), "{}", r.err);
    assert_eq!(r.json().len(), 0);
}

#[test]
fn misplaced_rows_fail_the_probe_command_and_are_reported() {
    let r = run("sm=80,row-swap=1", &["probe", "--instruction", FP16], b"");
    assert_eq!(r.code, 5);
    assert!(r.err.contains("the matrix probe must give"), "{}", r.err);
    let folder = temporary("misplaced");
    let report = folder.join("report.json").to_string_lossy().into_owned();
    let r = run("sm=80,row-swap=1", &["record", "--report", &report], cases(3).as_bytes());
    // Every row of a case is alike: the words are right all the same.
    assert_eq!((r.code, r.json()[3]["d"].as_str().map(str::to_string)), (0, Some(expected(2))), "{}", r.err);
    let report: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(report).unwrap()).unwrap();
    assert!(report["instructions"][FP16]["misplaced"].as_str().unwrap().contains("row 0"));
}

/// A disassembler that prints what its input file holds, in the style of the vendor's.
fn fake_tool(folder: &std::path::Path, name: &str, script: &str) {
    use std::os::unix::fs::PermissionsExt;
    let file = folder.join(name);
    std::fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn the_header_names_the_machine_opcode() {
    let folder = temporary("tools");
    fake_tool(
        &folder,
        "nvdisasm",
        r#"[ "$1" = -c ] && grep -q 'mma.sync.aligned.m16n8k8' "$2" && echo '/*0100*/ HMMA.1688.F32 R4, R4, R8, R12 ;'"#,
    );
    fake_tool(
        &folder,
        "llvm-objdump",
        r#"[ "$1" = -d ] && echo ' v_mfma_f32_16x16x16_f16 a[0:3], v[0:1], v[2:3], a[0:3]'"#,
    );
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    let r = run_with(&path, common::fake_libraries(), "sm=80", &["record"], cases(2).as_bytes());
    assert_eq!((r.code, r.json()[0]["provenance"]["opcode"].as_str()), (0, Some("HMMA.1688.F32")), "{}", r.err);
    // Two instructions: the header tells whose opcode is whose.
    let other = "mma.sync.m16n8k8.f16.f16.f16.f16";
    let both = cases(1) + &line("x", other, "0 0 0 0 0 0 0 0", "0 0 0 0 0 0 0 0", "0");
    let r = run_with(&path, common::fake_libraries(), "sm=80", &["record"], both.as_bytes());
    let wanted = format!("{FP16}: HMMA.1688.F32; {other}: HMMA.1688.F32");
    assert_eq!(r.json()[0]["provenance"]["opcode"].as_str(), Some(wanted.as_str()));
    let name = "v_mfma_f32_16x16x16_f16";
    let zeros = vec!["0"; 16].join(" ");
    let r = run_with(
        &path,
        common::fake_libraries(),
        "gfx=gfx942",
        &["record", "--api", "hip"],
        line("m", name, &zeros, &zeros, "0").as_bytes(),
    );
    assert_eq!((r.code, r.json()[0]["provenance"]["opcode"].as_str()), (0, Some(name)), "{}", r.err);
    let r = run_with("/nonexistent", common::fake_libraries(), "sm=80", &["record"], cases(2).as_bytes());
    assert!(r.code == 0 && r.json()[0]["provenance"]["opcode"].is_null());
}

#[test]
fn satfinite_and_signs_reach_the_device() {
    let words = |byte: &str| vec![byte; 32].join(" ");
    let sat = "mma.sync.m16n8k32.s32.s8.u8.s32.satfinite";
    let wrap = "mma.sync.m16n8k32.s32.s8.u8.s32";
    let input = line("sat", sat, &words("7f"), &words("ff"), "7fffffff")
        + &line("wrap", wrap, &words("7f"), &words("ff"), "7fffffff")
        + &line("signs", wrap, &words("80"), &words("ff"), "00000000");
    let r = run("sm=80", &["record"], input.as_bytes());
    assert_eq!(r.code, 0, "{}", r.err);
    let d: Vec<String> = r.json()[1..].iter().map(|l| l["d"].as_str().unwrap().to_string()).collect();
    let sum = 32 * 127 * 255i64;
    assert_eq!(d[0], "7fffffff");
    assert_eq!(d[1], format!("{:08x}", (i64::from(i32::MAX) + sum) as i32));
    assert_eq!(d[2], format!("{:08x}", (-128 * 255 * 32i32) as u32));
}

#[test]
fn amd_devices_record_too() {
    let name = "v_mfma_f32_16x16x16_f16";
    let ones = vec!["3c00"; 16].join(" ");
    let input: String = (0..120).map(|i| line(&format!("m{i}"), name, &ones, &ones, "40000000")).collect();
    let r = run_file("gfx=gfx942,devices=1", &["record", "--api", "hip"], &input);
    assert_eq!(r.code, 0, "{}", r.err);
    let lines = r.json();
    let p = &lines[0]["provenance"];
    assert_eq!(
        (p["gpu"].as_str(), p["architecture"].as_str(), p["toolkit"].as_str()),
        (Some("AMD Instinct MI300X"), Some("gfx942"), Some("HIP 6.3.42134"))
    );
    assert!(lines[1..].iter().all(|l| l["d"] == "41900000" && l["device"] == "mi300x"));
    // Another spelling of the same instruction, and what the device lacks.
    let r = run(
        "gfx=gfx90a,gpu=AMD Instinct MI250X",
        &["record", "--api", "hip"],
        line("x", "v_mfma_f32_16x16x16f16", &ones, &ones, "0").as_bytes(),
    );
    assert_eq!((r.code, r.json()[1]["device"].as_str()), (0, Some("mi250x")), "{}", r.err);
    let r = run(
        "gfx=gfx908",
        &["record", "--api", "hip"],
        line("x", "v_mfma_f32_16x16x8_xf32", "0 0 0 0 0 0 0 0", "0 0 0 0 0 0 0 0", "0").as_bytes(),
    );
    assert_eq!(r.code, 3);
    assert!(r.err.contains("exists on gfx942 alone, this device is gfx908"), "{}", r.err);
    let r = run_file("gfx=gfx942,fault=sync,after=3", &["record", "--api", "hip", "--batch", "50"], &input);
    assert_eq!(r.code, 4);
    assert!(
        r.err.contains("the kernel failed: 719 (unspecified launch failure); 50 finished cases are kept"),
        "{}",
        r.err
    );
    let r = run_file("gfx=gfx942,fault=load", &["record", "--api", "hip"], &input);
    assert_eq!(r.code, 4);
    assert!(
        r.err.contains("hiprtc could not compile the kernel for gfx942: error: a fault was asked for"),
        "{}",
        r.err
    );
    let r = run_file("", &["record", "--api", "hip"], &input);
    assert_eq!(r.code, 3);
    assert!(r.err.contains("no ROCm-capable device") && r.err.contains("rocminfo"), "{}", r.err);
}
