//! The machine opcode of a kernel's matrix instruction, where the vendor's disassembler is on the machine.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// SASS mnemonics of matrix instructions, longest first.
const SASS: [&str; 14] = [
    "UTCHMMA",
    "UTCQMMA",
    "UTCIMMA",
    "UTCOMMA",
    "UTCMXQMMA",
    "HGMMA",
    "QGMMA",
    "IGMMA",
    "DGMMA",
    "HMMA",
    "QMMA",
    "OMMA",
    "IMMA",
    "DMMA",
];

fn find(name: &str, folders: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain(folders.iter().map(PathBuf::from))
        .map(|dir| dir.join(name))
        .find(|file| file.is_file())
}

fn nvdisasm() -> Option<&'static Path> {
    static FOUND: OnceLock<Option<PathBuf>> = OnceLock::new();
    FOUND.get_or_init(|| find("nvdisasm", &["/usr/local/cuda/bin"])).as_deref()
}

fn llvm_objdump() -> Option<&'static Path> {
    static FOUND: OnceLock<Option<PathBuf>> = OnceLock::new();
    FOUND.get_or_init(|| find("llvm-objdump", &["/opt/rocm/llvm/bin"])).as_deref()
}

pub fn available_for_sass() -> bool {
    nvdisasm().is_some()
}

fn run(tool: &Path, args: &[&str], image: &[u8]) -> Option<String> {
    let file = std::env::temp_dir().join(format!("bitmma-hw-{}.bin", std::process::id()));
    std::fs::write(&file, image).ok()?;
    let output = Command::new(tool).args(args).arg(&file).output().ok();
    let _ = std::fs::remove_file(&file);
    let output = output?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Distinct matrix opcodes of a SASS listing, joined by `+` in order of appearance.
pub fn opcodes_of_sass(listing: &str) -> Option<String> {
    collect(listing, |token| SASS.iter().any(|m| token == *m || token.starts_with(&format!("{m}."))))
}

/// Distinct MFMA mnemonics of an AMD listing.
pub fn opcodes_of_amd(listing: &str) -> Option<String> {
    collect(listing, |token| token.starts_with("v_mfma_"))
}

fn collect(listing: &str, wanted: impl Fn(&str) -> bool) -> Option<String> {
    let mut seen: Vec<&str> = Vec::new();
    for token in listing.split_whitespace() {
        if wanted(token) && !seen.contains(&token) {
            seen.push(token);
        }
    }
    (!seen.is_empty()).then(|| seen.join("+"))
}

pub fn sass_opcode(cubin: &[u8]) -> Option<String> {
    opcodes_of_sass(&run(nvdisasm()?, &["-c"], cubin)?)
}

pub fn amd_opcode(code: &[u8]) -> Option<String> {
    opcodes_of_amd(&run(llvm_objdump()?, &["-d"], code)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_opcodes_in_listings() {
        let sass = "/*0100*/ HMMA.16816.F32 R4, R4, R8, R12 ;\n/*0110*/ HMMA.16816.F32 R4, R4, R8, R12 ;\n/*0120*/ STG.E [R2], R4 ;";
        assert_eq!(opcodes_of_sass(sass).as_deref(), Some("HMMA.16816.F32"));
        assert_eq!(opcodes_of_sass("IADD3 R1, R2, R3 ;"), None);
        assert_eq!(
            opcodes_of_amd(" v_mfma_f32_16x16x16_f16 a[0:3], v[0:1]").as_deref(),
            Some("v_mfma_f32_16x16x16_f16")
        );
    }
}
