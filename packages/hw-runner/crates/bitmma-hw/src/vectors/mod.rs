//! Vector files: JSON Lines and the binary form of docs/vector-binary.md, read and written as streams.

pub mod binary;
pub mod jsonl;

use crate::case::Case;
use crate::error::{Error, Result};
use serde_json::{Map, Value};
use std::io::{BufRead, BufReader, Read, Write};

/// A case with its names. `id` and `extra` (note, claims, …) travel from input to output unchanged.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Record {
    pub id: String,
    pub device: String,
    pub instruction: String,
    pub case: Case,
    pub extra: Map<String, Value>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Jsonl,
    Binary,
}

/// Strings only, as both forms' provenance.
pub type Provenance = Vec<(String, String)>;

pub enum Reader<R: Read> {
    Jsonl(jsonl::Reader<R>),
    Binary(binary::Reader<BufReader<R>>),
}

impl<R: Read> Reader<R> {
    /// Tells the form by the first byte: JSON Lines begin with `{` or space, the binary form with `B`.
    pub fn open(mut input: BufReader<R>, source: &str) -> Result<Reader<R>> {
        let first = input.fill_buf().map_err(|e| Error::Io(format!("{source}: {e}")))?.first().copied();
        Ok(match first {
            Some(b'B') => Reader::Binary(binary::Reader::open(input, source)?),
            _ => Reader::Jsonl(jsonl::Reader::new(input, source)),
        })
    }

    pub fn form(&self) -> Form {
        match self {
            Reader::Jsonl(_) => Form::Jsonl,
            Reader::Binary(_) => Form::Binary,
        }
    }

    pub fn provenance(&self) -> Provenance {
        match self {
            Reader::Jsonl(r) => r.provenance.clone(),
            Reader::Binary(r) => r.header.provenance.clone(),
        }
    }

    /// Up to `count` records; empty at the end.
    pub fn batch(&mut self, count: usize) -> Result<Vec<Record>> {
        match self {
            Reader::Jsonl(r) => r.batch(count),
            Reader::Binary(r) => r.batch(count),
        }
    }
}

pub enum Writer<W: Write> {
    Jsonl(jsonl::Writer<W>),
    Binary(binary::Writer<W>),
}

impl<W: Write> Writer<W> {
    pub fn new(output: W, form: Form, provenance: Provenance) -> Writer<W> {
        match form {
            Form::Jsonl => Writer::Jsonl(jsonl::Writer::new(output, Some(provenance))),
            Form::Binary => Writer::Binary(binary::Writer::new(output, provenance)),
        }
    }

    /// JSON Lines without a header line: answers for a program that reads cases alone.
    pub fn bare(output: W) -> Writer<W> {
        Writer::Jsonl(jsonl::Writer::new(output, None))
    }

    pub fn write(&mut self, record: &Record, d: u64) -> Result<()> {
        match self {
            Writer::Jsonl(w) => w.write(record, d),
            Writer::Binary(w) => w.write(record, d),
        }
    }

    pub fn flush(&mut self) -> Result<()> {
        match self {
            Writer::Jsonl(w) => w.flush(),
            Writer::Binary(w) => w.flush(),
        }
    }
}

/// The strings of a provenance object.
fn provenance_of(value: &Value) -> std::result::Result<Provenance, String> {
    let object = value.as_object().ok_or("provenance: expected an object of strings")?;
    object
        .iter()
        .map(|(name, v)| match v.as_str() {
            Some(text) => Ok((name.clone(), text.to_string())),
            None => Err(format!("provenance.{name}: expected a string, got {v}")),
        })
        .collect()
}

fn provenance_object(provenance: &Provenance) -> Value {
    Value::Object(provenance.iter().map(|(k, v)| (k.clone(), Value::String(v.clone()))).collect())
}
