//! Drives the built executable against the fake driver.

#![allow(dead_code)]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

/// A folder in which the fake driver answers to every vendor library's name.
pub fn fake_libraries() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("workspace");
        let profile = if cfg!(debug_assertions) { "dev" } else { "release" };
        let built = Command::new(env!("CARGO"))
            .args(["build", "--quiet", "--locked", "--package", "fake-driver", "--profile", profile])
            .current_dir(workspace)
            .status()
            .expect("cargo");
        assert!(built.success(), "the fake driver does not build");
        // The executable under test lies in the same profile's folder.
        let library = Path::new(env!("CARGO_BIN_EXE_bitmma-hw")).with_file_name("libbitmma_fake_driver.so");
        let folder = temporary("lib");
        for name in ["libcuda.so.1", "libamdhip64.so", "libhiprtc.so", "libcublasLt.so", "libcublasLt.so.12"] {
            std::os::unix::fs::symlink(&library, folder.join(name)).expect("link");
        }
        folder
    })
}

/// A fresh folder, named after the test process.
pub fn temporary(name: &str) -> PathBuf {
    static NEXT: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    let n = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("bitmma-hw-{}-{n}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("folder");
    folder
}

pub struct Run {
    pub code: i32,
    pub out: Vec<u8>,
    pub err: String,
}

impl Run {
    pub fn text(&self) -> String {
        String::from_utf8(self.out.clone()).expect("UTF-8")
    }

    /// Lines of output as JSON.
    pub fn json(&self) -> Vec<serde_json::Value> {
        self.text().lines().map(|l| serde_json::from_str(l).unwrap_or_else(|e| panic!("{l}: {e}"))).collect()
    }
}

/// Runs the executable on a fake machine (`BITMMA_FAKE` of the fake driver), input on its standard input.
pub fn run(machine: &str, arguments: &[&str], input: &[u8]) -> Run {
    run_in(fake_libraries(), machine, arguments, input)
}

/// As `run`, the input in a file: batches then have the size asked for, whatever a pipe delivers at once.
pub fn run_file(machine: &str, arguments: &[&str], input: &str) -> Run {
    let file = temporary("input").join("in.jsonl");
    std::fs::write(&file, input).expect("input file");
    let name = file.to_string_lossy().into_owned();
    run(machine, &[arguments, &["--in", &name]].concat(), b"")
}

pub fn run_in(libraries: &Path, machine: &str, arguments: &[&str], input: &[u8]) -> Run {
    run_with(&std::env::var("PATH").unwrap_or_default(), libraries, machine, arguments, input)
}

/// As `run_in`, with a PATH of its own.
pub fn run_with(path: &str, libraries: &Path, machine: &str, arguments: &[&str], input: &[u8]) -> Run {
    let mut child = Command::new(env!("CARGO_BIN_EXE_bitmma-hw"))
        .args(arguments)
        .env("PATH", path)
        .env("BITMMA_HW_LIB_DIR", libraries)
        .env("BITMMA_FAKE", machine)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("spawn");
    let mut stdin = child.stdin.take().expect("stdin");
    let bytes = input.to_vec();
    let writer = std::thread::spawn(move || {
        let _ = stdin.write_all(&bytes);
    });
    let Output { status, stdout, stderr } = child.wait_with_output().expect("wait");
    writer.join().expect("writer");
    Run { code: status.code().unwrap_or(-1), out: stdout, err: String::from_utf8_lossy(&stderr).into_owned() }
}

/// A vector line with one live product at each given position: a = 1, b = 1 there.
pub fn line(id: &str, instruction: &str, a: &str, b: &str, c: &str) -> String {
    format!(r#"{{"id":"{id}","device":"custom","instruction":"{instruction}","a":"{a}","b":"{b}","c":"{c}"}}"#) + "\n"
}
