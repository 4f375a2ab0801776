//! Command line: one command and its options.

use crate::driver::Api;
use crate::error::{Error, Result};
use crate::kernel::Arch;
use crate::vectors::Form;
use lexopt::prelude::*;
use std::path::PathBuf;
use std::time::Duration;

pub const USAGE: &str = "bitmma-hw: runs bitmma vector files on a GPU's matrix unit

  bitmma-hw record --in FILE --out FILE   run every case, write it with the words that came back
  bitmma-hw gemm --in FILE --out FILE     whole FP8 GEMMs by cuBLASLt (src/commands/gemm.rs says how)
  bitmma-hw serve                         answer requests on pipes (src/commands/serve.rs says how)
  bitmma-hw probe [--instruction NAME]    lane probes of one instruction, or of all that the device has
  bitmma-hw list                          devices, and the instructions of --gpu
  bitmma-hw kernel --instruction NAME --arch ARCH   print the kernel's source
  bitmma-hw kernels                       every kernel (instruction, architecture, target), JSON lines
  bitmma-hw layout --instruction NAME     where every element lies in the kernel's images, JSON

  --in, --out FILE     vector file, JSON Lines or binary (told apart by content); - is a pipe
  --gpu N              device number (0)
  --api cuda|hip       driver (the first that has the device)
  --format FORM        jsonl or binary: form of --out (as --in)
  --device ID          catalog name of the device, where its own name does not tell
  --faults FILE        JSON lines of cases whose output elements disagreed (stderr)
  --report FILE        JSON summary: device, opcodes, probes, counts
  --batch N            cases a batch; finished batches are on disk whatever follows (4096)
  --timeout SECONDS    longest wait for a driver call (60)
  --no-header          JSON Lines without the header line, for a program that reads cases alone
  --skip-unsupported   leave out cases of instructions that the device lacks, and count them

exit code: 0 done, 1 reading or writing failed, 2 bad input, 3 no driver, device or instruction,
4 a kernel or driver call failed or hung, 5 a lane probe failed, 6 output elements disagreed
";

pub struct Options {
    pub command: String,
    pub input: String,
    pub output: String,
    pub gpu: usize,
    pub api: Option<Api>,
    pub form: Option<Form>,
    pub device: Option<String>,
    pub faults: Option<PathBuf>,
    pub report: Option<PathBuf>,
    pub instruction: Option<String>,
    pub arch: Option<Arch>,
    pub batch: usize,
    pub timeout: Duration,
    pub skip_unsupported: bool,
    pub no_header: bool,
}

fn bad(message: impl std::fmt::Display) -> Error {
    Error::Input(message.to_string())
}

pub fn parse_arch(text: &str) -> Result<Arch> {
    if let Some(sm) = text.strip_prefix("sm_").and_then(|n| n.trim_end_matches('a').parse().ok()) {
        Ok(Arch::Sm(sm))
    } else if text.starts_with("gfx") {
        Ok(Arch::Gfx(text.into()))
    } else {
        Err(bad(format!("--arch: expected sm_N or gfxN, got {text}")))
    }
}

impl Options {
    /// None: help was asked for.
    pub fn parse(arguments: impl IntoIterator<Item = std::ffi::OsString>) -> Result<Option<Options>> {
        let mut o = Options {
            command: String::new(),
            input: "-".into(),
            output: "-".into(),
            gpu: 0,
            api: None,
            form: None,
            device: None,
            faults: None,
            report: None,
            instruction: None,
            arch: None,
            batch: 4096,
            timeout: Duration::from_secs(60),
            skip_unsupported: false,
            no_header: false,
        };
        let mut parser = lexopt::Parser::from_args(arguments);
        while let Some(argument) = parser.next().map_err(bad)? {
            let name = match argument {
                Short('h') => return Ok(None),
                Long(name) => name.to_string(),
                Value(value) => {
                    let value = value.string().map_err(bad)?;
                    if !o.command.is_empty() {
                        return Err(bad(format!("unexpected argument {value}")));
                    }
                    o.command = value;
                    continue;
                }
                other => return Err(bad(other.unexpected())),
            };
            match name.as_str() {
                "help" => return Ok(None),
                "skip-unsupported" => {
                    o.skip_unsupported = true;
                    continue;
                }
                "no-header" => {
                    o.no_header = true;
                    continue;
                }
                _ => {}
            }
            let text = parser.value().and_then(|v| v.string()).map_err(|e| bad(format!("--{name}: {e}")))?;
            match name.as_str() {
                "in" => o.input = text,
                "out" => o.output = text,
                "gpu" => o.gpu = number("gpu", &text)?,
                "batch" => o.batch = number("batch", &text)?.max(1),
                "api" => {
                    o.api = Some(match text.as_str() {
                        "cuda" => Api::Cuda,
                        "hip" => Api::Hip,
                        other => return Err(bad(format!("--api: expected cuda or hip, got {other}"))),
                    });
                }
                "format" => {
                    o.form = Some(match text.as_str() {
                        "jsonl" => Form::Jsonl,
                        "binary" => Form::Binary,
                        other => return Err(bad(format!("--format: expected jsonl or binary, got {other}"))),
                    });
                }
                "device" => o.device = Some(text),
                "faults" => o.faults = Some(text.into()),
                "report" => o.report = Some(text.into()),
                "instruction" => o.instruction = Some(text),
                "arch" => o.arch = Some(parse_arch(&text)?),
                "timeout" => {
                    let seconds = text.parse().ok().filter(|s: &f64| *s > 0.0 && *s < 1e9);
                    o.timeout =
                        Duration::from_secs_f64(seconds.ok_or_else(|| bad("--timeout: expected seconds above 0"))?);
                }
                other => return Err(bad(format!("unknown option --{other}"))),
            }
        }
        if o.command.is_empty() {
            return Err(bad("expected a command; bitmma-hw --help lists them"));
        }
        Ok(Some(o))
    }
}

fn number(name: &str, text: &str) -> Result<usize> {
    text.parse().map_err(|_| bad(format!("--{name}: expected a non-negative integer, got {text}")))
}
