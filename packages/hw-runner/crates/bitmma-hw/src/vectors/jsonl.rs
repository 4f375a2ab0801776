//! One JSON object a line; an optional first line `{"bitmmaVectors":1,"provenance":{…}}`.

use super::{provenance_object, provenance_of, Provenance, Record};
use crate::case::Case;
use crate::error::{Error, Result};
use crate::instruction::Instruction;
use serde_json::{json, Map, Value};
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};

pub struct Reader<R: Read> {
    input: BufReader<R>,
    source: String,
    line: usize,
    pub provenance: Provenance,
    instructions: HashMap<String, Instruction>,
}

impl<R: Read> Reader<R> {
    pub fn new(input: BufReader<R>, source: &str) -> Reader<R> {
        Reader { input, source: source.into(), line: 0, provenance: Vec::new(), instructions: HashMap::new() }
    }

    /// Up to `count` records, fewer where no more have arrived yet, so that a program that waits for answers before
    /// it sends more gets them. Empty at the end.
    pub fn batch(&mut self, count: usize) -> Result<Vec<Record>> {
        let mut out = Vec::new();
        let mut text = String::new();
        while out.len() < count && (out.is_empty() || !self.input.buffer().is_empty()) {
            text.clear();
            let read = self.input.read_line(&mut text).map_err(|e| Error::Io(format!("{}: {e}", self.source)))?;
            if read == 0 {
                break;
            }
            self.line += 1;
            if text.trim().is_empty() {
                continue;
            }
            let record =
                self.record(&text).map_err(|why| Error::Input(format!("{}:{}: {why}", self.source, self.line)))?;
            out.extend(record);
        }
        Ok(out)
    }

    fn record(&mut self, text: &str) -> std::result::Result<Option<Record>, String> {
        let value: Value = serde_json::from_str(text).map_err(|e| format!("expected one JSON object, {e}"))?;
        let Value::Object(mut fields) = value else {
            return Err("expected one JSON object".into());
        };
        if let Some(version) = fields.get("bitmmaVectors") {
            if self.line != 1 || version != 1 {
                return Err("bitmmaVectors: expected version 1, in the first line alone".into());
            }
            if let Some(p) = fields.get("provenance") {
                self.provenance = provenance_of(p)?;
            }
            return Ok(None);
        }
        let mut text = |name: &str| match fields.remove(name) {
            Some(Value::String(s)) => Ok(s),
            Some(other) => Err(format!("{name}: expected a string, got {other}")),
            None => Err(format!("{name}: expected a string, got nothing")),
        };
        let (id, device, name) = (text("id")?, text("device")?, text("instruction")?);
        if !self.instructions.contains_key(&name) {
            let parsed = Instruction::parse(&name).map_err(|e| e.to_string())?;
            self.instructions.insert(name.clone(), parsed);
        }
        let case = case_of(&mut fields)?;
        case.check(&self.instructions[&name]).map_err(|e| e.to_string())?;
        fields.remove("d");
        fields.remove("evidence");
        Ok(Some(Record { id, device, instruction: name, case, extra: fields }))
    }
}

fn words(fields: &mut Map<String, Value>, name: &str) -> std::result::Result<Vec<u64>, String> {
    let text = match fields.remove(name) {
        None => return Ok(Vec::new()),
        Some(Value::String(s)) => s,
        Some(Value::Array(items)) => {
            let strings: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
            strings.ok_or_else(|| format!("{name}: expected hex words, got {}", Value::Array(items.clone())))?.join(" ")
        }
        Some(other) => return Err(format!("{name}: expected hex words, got {other}")),
    };
    text.split_whitespace()
        .enumerate()
        .map(|(i, w)| u64::from_str_radix(w, 16).map_err(|_| format!("{name}[{i}]: expected a hex word, got {w}")))
        .collect()
}

fn narrow<T: TryFrom<u64>>(name: &str, bits: usize, words: Vec<u64>) -> std::result::Result<Vec<T>, String> {
    words
        .into_iter()
        .enumerate()
        .map(|(i, w)| T::try_from(w).map_err(|_| format!("{name}[{i}]: expected {bits} bits, got {w:x}")))
        .collect()
}

fn case_of(fields: &mut Map<String, Value>) -> std::result::Result<Case, String> {
    let c = words(fields, "c")?;
    if c.len() > 1 {
        return Err(format!("c: expected 1 word, got {}", c.len()));
    }
    Ok(Case {
        a: words(fields, "a")?,
        b: words(fields, "b")?,
        c: c.first().copied(),
        scale_a: narrow("scaleA", 8, words(fields, "scaleA")?)?,
        scale_b: narrow("scaleB", 8, words(fields, "scaleB")?)?,
        sparse: narrow("sparse", 32, words(fields, "sparse")?)?,
    })
}

pub struct Writer<W: Write> {
    output: W,
    provenance: Option<Provenance>,
    instructions: HashMap<String, Instruction>,
}

fn hex(words: impl Iterator<Item = u64>, bits: u32) -> String {
    let digits = bits as usize / 4;
    words.map(|w| format!("{w:0digits$x}")).collect::<Vec<_>>().join(" ")
}

impl<W: Write> Writer<W> {
    /// Without provenance the file has no header line.
    pub fn new(output: W, provenance: Option<Provenance>) -> Writer<W> {
        Writer { output, provenance, instructions: HashMap::new() }
    }

    fn line(&mut self, value: &Value) -> Result<()> {
        serde_json::to_writer(&mut self.output, value).map_err(|e| Error::Io(e.to_string()))?;
        Ok(self.output.write_all(b"\n")?)
    }

    pub fn write(&mut self, record: &Record, d: u64) -> Result<()> {
        if let Some(p) = self.provenance.take() {
            self.line(&json!({ "bitmmaVectors": 1, "provenance": provenance_object(&p) }))?;
        }
        if !self.instructions.contains_key(&record.instruction) {
            self.instructions.insert(record.instruction.clone(), Instruction::parse(&record.instruction)?);
        }
        let i = &self.instructions[&record.instruction];
        let case = &record.case;
        let mut out = Map::new();
        let mut put = |name: &str, value: String| out.insert(name.into(), Value::String(value));
        put("id", record.id.clone());
        put("device", record.device.clone());
        put("instruction", record.instruction.clone());
        put("a", hex(case.a.iter().copied(), i.a.word_bits()));
        put("b", hex(case.b.iter().copied(), i.b.word_bits()));
        put("c", hex(case.c.iter().copied().chain(case.c.is_none().then_some(0)), i.c.word_bits()));
        put("d", hex(std::iter::once(d), i.d.word_bits()));
        if i.scaling.is_some() {
            put("scaleA", hex(case.scale_a.iter().map(|w| u64::from(*w)), 8));
            put("scaleB", hex(case.scale_b.iter().map(|w| u64::from(*w)), 8));
        }
        put("evidence", "recorded".into());
        if i.sparsity.is_some() {
            out.insert("sparse".into(), case.sparse.iter().map(|w| Value::String(format!("{w:08x}"))).collect());
        }
        out.extend(record.extra.clone());
        self.line(&Value::Object(out))
    }

    pub fn flush(&mut self) -> Result<()> {
        Ok(self.output.flush()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<Record>> {
        Reader::new(BufReader::new(text.as_bytes()), "in.jsonl").batch(100)
    }

    #[test]
    fn reads_and_writes_a_case() {
        let line = r#"{"id":"x","device":"a100","instruction":"mma.sync.m16n8k4.f32.tf32.tf32.f32","a":"3f800000 00000001 00000000 ffffffff","b":"3f800000 00000000 00000000 00000000","c":"00000000","d":"3f800000","note":"n"}"#;
        let records = read(&format!("{{\"bitmmaVectors\":1,\"provenance\":{{\"seed\":\"7\"}}}}\n\n{line}\n")).unwrap();
        assert_eq!(records.len(), 1);
        assert_eq!(records[0].case.a[3], 0xffff_ffff);
        let mut out = Vec::new();
        let mut writer = Writer::new(&mut out, Some(vec![("gpu".into(), "g".into())]));
        writer.write(&records[0], 0x7fc0_0001).unwrap();
        let text = String::from_utf8(out).unwrap();
        let lines: Vec<Value> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
        assert_eq!(lines[0]["provenance"]["gpu"], "g");
        assert_eq!(lines[1]["d"], "7fc00001");
        assert_eq!(lines[1]["note"], "n");
        assert_eq!(lines[1]["a"], "3f800000 00000001 00000000 ffffffff");
    }

    #[test]
    fn names_file_line_and_field() {
        let at = |text: &str| match read(text) {
            Err(Error::Input(m)) => m,
            other => panic!("{other:?}"),
        };
        assert_eq!(at("{}"), "in.jsonl:1: id: expected a string, got nothing");
        let one = |rest: &str| {
            format!("\n{{\"id\":\"x\",\"device\":\"d\",\"instruction\":\"mma.sync.m16n8k4.f32.tf32.tf32.f32\",{rest}}}")
        };
        assert_eq!(at(&one(r#""a":"0 0 0 g""#)), "in.jsonl:2: a[3]: expected a hex word, got g");
        assert_eq!(at(&one(r#""a":"0 0 0 0","b":"0 0 0""#)), "in.jsonl:2: b: expected 4 words as in a, got 3");
        assert!(at(&one(r#""a":"0 0 0 100000000","b":"0 0 0 0""#)).contains("a: expected words of 32 bits"));
    }
}
