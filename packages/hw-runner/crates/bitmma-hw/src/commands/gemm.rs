//! `gemm`: whole FP8 GEMMs through cuBLASLt, with the algorithm that ran.
//!
//! Input, JSON lines: `id`, `m`, `n`, `k`, `a` and `b` (e4m3 or e5m2), `out` (f32, f16, bf16, e4m3, e5m2), `fast`
//! (boolean), and optionally `scaleA`, `scaleB`, `scaleResult` (fp32 words, hex; scales 3f800000), `workspace`
//! (bytes, 1 MiB), and the operands: `wordsA` (rows of A) and `wordsB` (columns of B) as hex bytes, or `seed`.
//! Output: the same, with `d` (hex words of D, row-major, little-endian bytes) and `algorithm`.
//!
//! Seeded operands: byte i of A, then of B, is byte i of the little-endian outputs of splitmix64 from that seed; a byte
//! that is NaN or Inf in its format loses bit 6.

use super::options::Options;
use super::provenance;
use super::record::{open_input, open_output};
use crate::driver::cublaslt::{CublasLt, Gemm, Product};
use crate::driver::cuda::Cuda;
use crate::driver::worker::wait;
use crate::driver::{Device, DeviceInfo};
use crate::error::{Error, Result};
use crate::format::Format;
use serde_json::{json, Map, Value};
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::sync::mpsc::channel;

/// Elements of the largest operand or result that a line may ask for.
const LIMIT: u64 = 1 << 31;

fn finite(byte: u8, format: Format) -> u8 {
    let special = match format {
        Format::E4m3 => byte & 0x7f == 0x7f,
        _ => byte & 0x7c == 0x7c,
    };
    if special {
        byte & 0xbf
    } else {
        byte
    }
}

/// Bytes of splitmix64, in order.
struct Stream {
    state: u64,
    word: [u8; 8],
    at: usize,
}

impl Stream {
    fn new(seed: u64) -> Stream {
        Stream { state: seed, word: [0; 8], at: 8 }
    }

    fn byte(&mut self) -> u8 {
        if self.at == 8 {
            self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = self.state;
            z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            self.word = (z ^ z >> 31).to_le_bytes();
            self.at = 0;
        }
        self.at += 1;
        self.word[self.at - 1]
    }
}

type Fields = Map<String, Value>;
type Parsed<T> = std::result::Result<T, String>;

fn number(fields: &Fields, name: &str) -> Parsed<usize> {
    fields.get(name).and_then(Value::as_u64).filter(|v| (1..LIMIT).contains(v)).map(|v| v as usize).ok_or_else(|| {
        format!("{name}: expected an integer of 1 or more, got {}", fields.get(name).unwrap_or(&Value::Null))
    })
}

fn format(fields: &Fields, name: &str, allowed: &[Format]) -> Parsed<Format> {
    let text = fields.get(name).and_then(Value::as_str).unwrap_or("nothing");
    Format::from_ptx(text).filter(|f| allowed.contains(f)).ok_or_else(|| {
        let names: Vec<&str> = allowed.iter().map(|f| f.token()).collect();
        format!("{name}: expected one of {}, got {text}", names.join(", "))
    })
}

fn scale(fields: &Fields, name: &str) -> Parsed<Option<u32>> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => value
            .as_str()
            .and_then(|t| u32::from_str_radix(t, 16).ok())
            .map(Some)
            .ok_or_else(|| format!("{name}: expected an fp32 word in hex, got {value}")),
    }
}

fn bytes(fields: &Fields, name: &str, count: usize) -> Parsed<Vec<u8>> {
    let text =
        fields.get(name).and_then(Value::as_str).ok_or_else(|| format!("{name}: expected hex bytes, or seed"))?;
    if text.len() != 2 * count {
        return Err(format!("{name}: expected {count} bytes, got {} digits", text.len()));
    }
    (0..count)
        .map(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).map_err(|_| format!("{name}[{i}]: expected hex")))
        .collect()
}

fn parse(fields: &Fields) -> Parsed<Gemm> {
    const FP8: [Format; 2] = [Format::E4m3, Format::E5m2];
    let (m, n, k) = (number(fields, "m")?, number(fields, "n")?, number(fields, "k")?);
    if [m * k, n * k, m * n].iter().any(|e| *e as u64 >= LIMIT) {
        return Err(format!("m, n, k: expected matrices below {LIMIT} elements"));
    }
    let (a, b) = (format(fields, "a", &FP8)?, format(fields, "b", &FP8)?);
    let out = format(fields, "out", &[Format::Fp32, Format::Fp16, Format::Bf16, Format::E4m3, Format::E5m2])?;
    let fast = fields.get("fast").and_then(Value::as_bool).ok_or("fast: expected true or false")?;
    let (words_a, words_b) = match fields.get("seed") {
        Some(seed) => {
            let mut stream =
                Stream::new(seed.as_u64().ok_or_else(|| format!("seed: expected an integer, got {seed}"))?);
            let a_words = (0..m * k).map(|_| finite(stream.byte(), a)).collect();
            (a_words, (0..n * k).map(|_| finite(stream.byte(), b)).collect())
        }
        None => (bytes(fields, "wordsA", m * k)?, bytes(fields, "wordsB", n * k)?),
    };
    Ok(Gemm {
        m,
        n,
        k,
        a,
        b,
        out,
        fast,
        scale_a: scale(fields, "scaleA")?.unwrap_or(0x3f80_0000),
        scale_b: scale(fields, "scaleB")?.unwrap_or(0x3f80_0000),
        scale_result: scale(fields, "scaleResult")?,
        workspace: if fields.contains_key("workspace") { number(fields, "workspace")? } else { 1 << 20 },
        words_a,
        words_b,
    })
}

fn read(options: &Options) -> Result<Vec<(Fields, Gemm)>> {
    let source = if options.input == "-" { "standard input" } else { &options.input };
    let mut out = Vec::new();
    for (i, line) in BufReader::new(open_input(&options.input)?).lines().enumerate() {
        let line = line?;
        if line.trim().is_empty() {
            continue;
        }
        let bad = |why: String| Error::Input(format!("{source}:{}: {why}", i + 1));
        let fields: Fields = serde_json::from_str(&line).map_err(|e| bad(format!("expected one JSON object, {e}")))?;
        let gemm = parse(&fields).map_err(bad)?;
        out.push((fields, gemm));
    }
    Ok(out)
}

fn result(mut fields: Fields, p: &Product) -> Value {
    let hex: String = p.d.iter().map(|b| format!("{b:02x}")).collect();
    let mut algorithm: Map<String, Value> = p.algorithm.iter().map(|(k, v)| ((*k).to_string(), json!(v))).collect();
    algorithm.insert("workspace".into(), json!(p.workspace));
    algorithm.insert("waves".into(), json!(p.waves));
    fields.insert("algorithm".into(), Value::Object(algorithm));
    fields.insert("d".into(), Value::String(hex));
    fields.insert("evidence".into(), Value::String("recorded".into()));
    Value::Object(fields)
}

enum Message {
    Opened(DeviceInfo, String),
    Done(Box<std::result::Result<Product, Error>>),
}

pub fn gemm(options: &Options) -> Result<()> {
    let gemms = read(options)?;
    let (send, receive) = channel::<Result<Message>>();
    let (fields, work): (Vec<Fields>, Vec<Gemm>) = gemms.into_iter().unzip();
    let gpu = options.gpu;
    std::thread::spawn(move || {
        let mut blas = match Cuda::open(gpu).and_then(CublasLt::open) {
            Ok(blas) => blas,
            Err(error) => {
                let _ = send.send(Err(error));
                return;
            }
        };
        let _ = send.send(Ok(Message::Opened(blas.cuda().info().clone(), blas.version())));
        for g in work {
            if send.send(Ok(Message::Done(Box::new(blas.run(&g))))).is_err() {
                return;
            }
        }
    });
    let Message::Opened(info, version) = wait(&receive, options.timeout, "opening cuBLASLt")? else { unreachable!() };
    let mut output = BufWriter::new(open_output(&options.output)?);
    let mut header: Map<String, Value> = provenance(&info).into_iter().map(|(k, v)| (k, Value::String(v))).collect();
    header.insert("cublasLt".into(), Value::String(version));
    writeln!(output, "{}", json!({ "bitmmaGemms": 1, "provenance": header }))?;
    let (mut done, mut refused) = (0, 0);
    for f in fields {
        let Message::Done(answer) = wait(&receive, options.timeout, "a GEMM")? else { unreachable!() };
        match *answer {
            Ok(product) => {
                done += 1;
                writeln!(output, "{}", result(f, &product))?;
            }
            // A shape that cuBLASLt refuses is a result; a fault of the device ends the run.
            Err(Error::Device(why)) if why.contains("does not support") => {
                refused += 1;
                let mut f = f;
                f.insert("refused".into(), Value::String(why));
                writeln!(output, "{}", Value::Object(f))?;
            }
            Err(error) => {
                output.flush()?;
                return Err(error);
            }
        }
        output.flush()?;
    }
    eprintln!("{done} GEMMs recorded on {}, {refused} refused", info.name);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeded_bytes_are_splitmix64() {
        // Outputs of splitmix64 from 0: e220a8397b1dcdaf, 6e789e6aa1b965f4.
        let mut stream = Stream::new(0);
        let first: Vec<u8> = (0..9).map(|_| stream.byte()).collect();
        assert_eq!(first, [0xaf, 0xcd, 0x1d, 0x7b, 0x39, 0xa8, 0x20, 0xe2, 0xf4]);
        assert_eq!(
            (finite(0xff, Format::E4m3), finite(0x7c, Format::E5m2), finite(0x7c, Format::E4m3)),
            (0xbf, 0x3c, 0x7c)
        );
    }
}
