//! The compact binary form, docs/vector-binary.md.

use super::{provenance_object, provenance_of, Provenance, Record};
use crate::case::Case;
use crate::error::{Error, Result};
use crate::instruction::Instruction;
use serde_json::{json, Map, Value};
use std::io::{BufRead, Read, Write};

const MAGIC: &[u8; 8] = b"BITMMAV1";
const MAX_HEADER: usize = 1 << 20;

#[derive(Debug, Clone, PartialEq)]
pub struct Header {
    pub device: String,
    pub instruction: String,
    pub k: usize,
    pub a_bits: usize,
    pub b_bits: usize,
    pub c_bits: usize,
    pub d_bits: usize,
    pub scale_words: usize,
    pub sparse_words: usize,
    pub has_c: bool,
    pub has_d: bool,
    pub provenance: Provenance,
}

const FIELDS: [&str; 11] =
    ["op", "k", "aBits", "bBits", "cBits", "dBits", "scaleWords", "sparseWords", "hasC", "hasD", "provenance"];

impl Header {
    fn parse(bytes: &[u8]) -> std::result::Result<Header, String> {
        let value: Value = serde_json::from_slice(bytes).map_err(|e| format!("header: expected a JSON object, {e}"))?;
        let Value::Object(fields) = value else {
            return Err("header: expected a JSON object".into());
        };
        if let Some(name) = fields.keys().find(|k| !FIELDS.contains(&k.as_str())) {
            return Err(format!("header: unknown field {name}"));
        }
        let number = |name: &str| {
            fields.get(name).and_then(Value::as_u64).map(|n| n as usize).ok_or_else(|| {
                format!("header.{name}: expected a non-negative integer, got {}", show(fields.get(name)))
            })
        };
        let boolean = |name: &str| {
            fields
                .get(name)
                .and_then(Value::as_bool)
                .ok_or_else(|| format!("header.{name}: expected a boolean, got {}", show(fields.get(name))))
        };
        let op = |name: &str| {
            fields
                .get("op")
                .and_then(|op| op.get(name))
                .and_then(Value::as_str)
                .map(str::to_string)
                .ok_or_else(|| format!("header.op.{name}: expected a string"))
        };
        Ok(Header {
            device: op("device")?,
            instruction: op("instruction")?,
            k: number("k")?,
            a_bits: number("aBits")?,
            b_bits: number("bBits")?,
            c_bits: number("cBits")?,
            d_bits: number("dBits")?,
            scale_words: number("scaleWords")?,
            sparse_words: number("sparseWords")?,
            has_c: boolean("hasC")?,
            has_d: boolean("hasD")?,
            provenance: fields.get("provenance").map_or(Ok(Vec::new()), provenance_of)?,
        })
    }

    /// Widths that are not the instruction's are refused.
    fn check(&self, i: &Instruction) -> std::result::Result<(), String> {
        let expect = |name: &str, expected: usize, got: usize| {
            if expected == got {
                Ok(())
            } else {
                Err(format!("header.{name}: expected {expected} for {}, got {got}", i.name))
            }
        };
        if self.k == 0 {
            return Err("header.k: expected 1 or more, got 0".into());
        }
        expect("aBits", i.a.word_bits() as usize, self.a_bits)?;
        expect("bBits", i.b.word_bits() as usize, self.b_bits)?;
        expect("cBits", i.c.word_bits() as usize, self.c_bits)?;
        expect("dBits", i.d.word_bits() as usize, self.d_bits)?;
        expect("scaleWords", i.scaling.map_or(0, |s| self.k.div_ceil(s.block)), self.scale_words)?;
        expect("sparseWords", i.sparsity.map_or(0, |s| self.k.div_ceil(s.chunk()).div_ceil(8)), self.sparse_words)
    }

    fn json(&self) -> Value {
        json!({
            "op": { "device": self.device, "instruction": self.instruction },
            "k": self.k, "aBits": self.a_bits, "bBits": self.b_bits, "cBits": self.c_bits, "dBits": self.d_bits,
            "scaleWords": self.scale_words, "sparseWords": self.sparse_words, "hasC": self.has_c, "hasD": self.has_d,
            "provenance": provenance_object(&self.provenance),
        })
    }

    pub fn record_bytes(&self) -> usize {
        self.k * (self.a_bits + self.b_bits) / 8
            + if self.has_c { self.c_bits / 8 } else { 0 }
            + if self.has_d { self.d_bits / 8 } else { 0 }
            + 2 * self.scale_words
            + 4 * self.sparse_words
    }
}

fn show(value: Option<&Value>) -> String {
    value.map_or("nothing".into(), Value::to_string)
}

pub struct Reader<R: BufRead> {
    input: R,
    source: String,
    pub header: Header,
    instruction: Instruction,
    offset: u64,
    next: u64,
}

impl<R: BufRead> Reader<R> {
    pub fn open(mut input: R, source: &str) -> Result<Reader<R>> {
        let bad = |offset: usize, why: String| Error::Input(format!("{source}: byte {offset}: {why}"));
        let mut start = [0u8; 12];
        if read_full(&mut input, &mut start)? < 12 || &start[..8] != MAGIC {
            return Err(bad(0, "expected the magic BITMMAV1 and a header length".into()));
        }
        let length = u32::from_le_bytes([start[8], start[9], start[10], start[11]]) as usize;
        if !(1..=MAX_HEADER).contains(&length) {
            return Err(bad(8, format!("expected a header length of 1 to {MAX_HEADER}, got {length}")));
        }
        let mut header = vec![0u8; length];
        if read_full(&mut input, &mut header)? < length {
            return Err(bad(8, format!("the header length {length} goes beyond the file")));
        }
        let header = Header::parse(&header).map_err(|why| bad(12, why))?;
        let instruction = Instruction::parse(&header.instruction).map_err(|e| bad(12, e.to_string()))?;
        header.check(&instruction).map_err(|why| bad(12, why))?;
        Ok(Reader { input, source: source.into(), header, instruction, offset: (12 + length) as u64, next: 0 })
    }

    pub fn batch(&mut self, count: usize) -> Result<Vec<Record>> {
        let size = self.header.record_bytes();
        let mut bytes = vec![0u8; size];
        let mut out = Vec::new();
        while out.len() < count {
            let read = read_full(&mut self.input, &mut bytes)?;
            if read == 0 {
                break;
            }
            let bad = |why: String| Error::Input(format!("{}: byte {}: {why}", self.source, self.offset));
            if read < size {
                return Err(bad(format!("the last record is truncated, {read} of {size} bytes")));
            }
            let case = self.case(&bytes);
            case.check(&self.instruction).map_err(|e| bad(format!("record {}: {e}", self.next)))?;
            out.push(Record {
                id: self.next.to_string(),
                device: self.header.device.clone(),
                instruction: self.header.instruction.clone(),
                case,
                extra: Map::new(),
            });
            self.offset += size as u64;
            self.next += 1;
        }
        Ok(out)
    }

    fn case(&self, bytes: &[u8]) -> Case {
        let h = &self.header;
        let mut at = 0;
        let mut words = |count: usize, bits: usize| -> Vec<u64> {
            let width = bits / 8;
            let part = &bytes[at..at + count * width];
            at += count * width;
            part.chunks(width).map(|w| w.iter().rev().fold(0, |v, b| v << 8 | u64::from(*b))).collect()
        };
        let a = words(h.k, h.a_bits);
        let b = words(h.k, h.b_bits);
        let c = if h.has_c { words(1, h.c_bits).first().copied() } else { None };
        if h.has_d {
            words(1, h.d_bits);
        }
        let bytes_of = |w: Vec<u64>| w.into_iter().map(|w| w as u8).collect();
        let scale_a = bytes_of(words(h.scale_words, 8));
        let scale_b = bytes_of(words(h.scale_words, 8));
        let sparse = words(h.sparse_words, 32).into_iter().map(|w| w as u32).collect();
        Case { a, b, c, scale_a, scale_b, sparse }
    }
}

/// Reads until the buffer is full or the input ends; the number of bytes read.
fn read_full(input: &mut impl Read, buffer: &mut [u8]) -> Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match input.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(n) => filled += n,
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e.into()),
        }
    }
    Ok(filled)
}

pub struct Writer<W: Write> {
    output: W,
    provenance: Provenance,
    header: Option<Header>,
}

impl<W: Write> Writer<W> {
    pub fn new(output: W, provenance: Provenance) -> Writer<W> {
        Writer { output, provenance, header: None }
    }

    fn start(&mut self, record: &Record) -> Result<Header> {
        let i = Instruction::parse(&record.instruction)?;
        let header = Header {
            device: record.device.clone(),
            instruction: record.instruction.clone(),
            k: record.case.a.len(),
            a_bits: i.a.word_bits() as usize,
            b_bits: i.b.word_bits() as usize,
            c_bits: i.c.word_bits() as usize,
            d_bits: i.d.word_bits() as usize,
            scale_words: record.case.scale_a.len(),
            sparse_words: record.case.sparse.len(),
            has_c: true,
            has_d: true,
            provenance: self.provenance.clone(),
        };
        let mut text = header.json().to_string();
        while !(12 + text.len()).is_multiple_of(8) {
            text.push(' ');
        }
        self.output.write_all(MAGIC)?;
        self.output.write_all(&(text.len() as u32).to_le_bytes())?;
        self.output.write_all(text.as_bytes())?;
        Ok(header)
    }

    pub fn write(&mut self, record: &Record, d: u64) -> Result<()> {
        let h = match self.header.take() {
            Some(h) => h,
            None => self.start(record)?,
        };
        let case = &record.case;
        if (h.instruction.as_str(), h.k) != (record.instruction.as_str(), case.a.len()) {
            return Err(Error::Input(format!(
                "{}: the binary form holds cases of one instruction and k ({}, {}), got {}, {}",
                record.id,
                h.instruction,
                h.k,
                record.instruction,
                case.a.len()
            )));
        }
        let mut put = |words: &mut dyn Iterator<Item = u64>, bits: usize| -> Result<()> {
            for word in words {
                self.output.write_all(&word.to_le_bytes()[..bits / 8])?;
            }
            Ok(())
        };
        put(&mut case.a.iter().copied(), h.a_bits)?;
        put(&mut case.b.iter().copied(), h.b_bits)?;
        put(&mut std::iter::once(case.c.unwrap_or(0)), h.c_bits)?;
        put(&mut std::iter::once(d), h.d_bits)?;
        put(&mut case.scale_a.iter().map(|w| u64::from(*w)), 8)?;
        put(&mut case.scale_b.iter().map(|w| u64::from(*w)), 8)?;
        put(&mut case.sparse.iter().map(|w| u64::from(*w)), 32)?;
        self.header = Some(h);
        Ok(())
    }

    pub fn flush(&mut self) -> Result<()> {
        Ok(self.output.flush()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(name: &str, words: usize) -> Record {
        let i = Instruction::parse(name).unwrap();
        let case = Case {
            a: (0..words as u64).map(|w| w % 2).collect(),
            b: (0..words as u64).map(|w| (w + 1) % 2).collect(),
            c: Some(3),
            scale_a: (0..i.scale_words()).map(|w| w as u8 + 120).collect(),
            scale_b: (0..i.scale_words()).map(|w| w as u8 + 130).collect(),
            sparse: vec![0x4e4e_4e4e; i.sparse_words()],
        };
        Record { id: "0".into(), device: "b200".into(), instruction: name.into(), case, extra: Map::new() }
    }

    #[test]
    fn survives_a_round_trip() {
        for (name, k) in [
            ("mma.sync.m16n8k16.f64.f64.f64.f64", 16),
            ("mma.sync.m16n8k16.f16.f16.f16.f16", 40),
            ("tcgen05.mma.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.ue4m3", 64),
            ("tcgen05.mma.sp.kind::tf32.f32.tf32.tf32", 16),
        ] {
            let record = sample(name, k);
            let mut out = Vec::new();
            let mut writer = Writer::new(&mut out, vec![("seed".into(), "1".into())]);
            writer.write(&record, 9).unwrap();
            writer.write(&record, 10).unwrap();
            assert_eq!((out.len() - 12) % record_size(&out), header_length(&out) % record_size(&out));
            let mut reader = Reader::open(&out[..], "x.bmv").unwrap();
            let back = reader.batch(10).unwrap();
            assert_eq!((back.len(), &back[0].case), (2, &record.case));
            assert_eq!(reader.header.provenance, [("seed".to_string(), "1".to_string())]);
            let cut = &out[..out.len() - 1];
            let mut reader = Reader::open(cut, "x.bmv").unwrap();
            assert!(
                matches!(reader.batch(10), Err(Error::Input(m)) if m.contains("truncated") && m.starts_with("x.bmv: byte"))
            );
        }
    }

    fn header_length(bytes: &[u8]) -> usize {
        u32::from_le_bytes(bytes[8..12].try_into().unwrap()) as usize
    }

    fn record_size(bytes: &[u8]) -> usize {
        Header::parse(&bytes[12..12 + header_length(bytes)]).unwrap().record_bytes()
    }

    #[test]
    fn refuses_bad_headers() {
        let file = |header: &str| {
            let mut out = MAGIC.to_vec();
            out.extend((header.len() as u32).to_le_bytes());
            out.extend(header.as_bytes());
            out
        };
        let why = |bytes: &[u8]| match Reader::open(bytes, "f") {
            Err(Error::Input(m)) => m,
            Err(e) => panic!("{e:?}"),
            Ok(_) => panic!("accepted"),
        };
        assert!(why(b"BITMMAV2\0\0\0\0").contains("magic"));
        assert!(why(b"BITMMAV1\0\0\0\0").contains("header length of 1"));
        assert!(why(b"BITMMAV1\x09\0\0\0{}").contains("beyond the file"));
        let good = r#"{"op":{"device":"a100","instruction":"mma.sync.m16n8k4.f32.tf32.tf32.f32"},"k":4,"aBits":32,"bBits":32,"cBits":32,"dBits":32,"scaleWords":0,"sparseWords":0,"hasC":true,"hasD":false}"#;
        assert!(Reader::open(&file(good)[..], "f").is_ok());
        assert!(why(&file(&good.replace("\"aBits\":32", "\"aBits\":16"))).contains("header.aBits: expected 32"));
        assert!(why(&file(&good.replace("\"k\":4", "\"k\":4,\"z\":1"))).contains("unknown field z"));
        assert!(why(&file(&good.replace("\"hasC\":true,", ""))).contains("header.hasC"));
    }
}
