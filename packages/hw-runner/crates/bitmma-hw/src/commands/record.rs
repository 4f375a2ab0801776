//! `record`: every case of a vector file through the device, in order, batch by batch.

use super::options::Options;
use super::{open_worker, provenance};
use crate::catalog::device_id;
use crate::error::{Error, Result};
use crate::image::Answer;
use crate::session::{describe, Prepared, Session};
use crate::vectors::{Form, Provenance, Reader, Record, Writer};
use serde_json::{json, Map, Value};
use std::fs::File;
use std::io::{stdin, stdout, BufReader, BufWriter, Read, Write};
use std::rc::Rc;

pub fn open_input(name: &str) -> Result<Box<dyn Read>> {
    if name == "-" {
        return Ok(Box::new(stdin()));
    }
    Ok(Box::new(File::open(name).map_err(|e| Error::Input(format!("{name}: {e}")))?))
}

pub fn open_output(name: &str) -> Result<Box<dyn Write>> {
    if name == "-" {
        return Ok(Box::new(stdout()));
    }
    Ok(Box::new(File::create(name).map_err(|e| Error::Io(format!("{name}: {e}")))?))
}

/// Counts of one instruction.
#[derive(Default)]
struct Tally {
    opcode: Option<String>,
    probes: usize,
    cases: u64,
    position_failures: u64,
    skipped: u64,
    probe_failure: Option<String>,
    misplaced: Option<String>,
    unsupported: Option<String>,
}

struct Recorder<'a> {
    options: &'a Options,
    session: Session,
    device: String,
    tallies: Vec<(String, Tally)>,
    faults: Option<Box<dyn Write>>,
}

impl Recorder<'_> {
    fn tally(&mut self, name: &str) -> &mut Tally {
        let at = match self.tallies.iter().position(|(n, _)| n == name) {
            Some(at) => at,
            None => {
                self.tallies.push((name.into(), Tally::default()));
                self.tallies.len() - 1
            }
        };
        &mut self.tallies[at].1
    }

    /// The instruction ready to run; None where its cases are to be left out.
    fn prepare(&mut self, name: &str) -> Result<Option<Rc<Prepared>>> {
        let tally = self.tally(name);
        if tally.unsupported.is_some() || tally.probe_failure.is_some() {
            return Ok(None);
        }
        match self.session.prepare(name) {
            Ok(prepared) => {
                let tally = self.tally(name);
                tally.opcode = prepared.opcode.clone();
                tally.probes = prepared.probes;
                if tally.misplaced.is_none() && prepared.misplaced.is_some() {
                    tally.misplaced.clone_from(&prepared.misplaced);
                    eprintln!(
                        "{}; replicated cases do not depend on it",
                        prepared.misplaced.as_deref().unwrap_or_default()
                    );
                }
                Ok(Some(prepared))
            }
            Err(Error::Probe(message)) => {
                eprintln!("{message}");
                self.tally(name).probe_failure = Some(message);
                Ok(None)
            }
            Err(Error::Unavailable { reason, .. }) if self.options.skip_unsupported => {
                self.tally(name).unsupported = Some(reason);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Answers of a batch, in its order; None for a case left out.
    fn run(&mut self, batch: &[Record]) -> Result<Vec<Option<u64>>> {
        let mut out = vec![None; batch.len()];
        let mut names: Vec<&str> = Vec::new();
        for record in batch {
            if !names.contains(&record.instruction.as_str()) {
                names.push(&record.instruction);
            }
        }
        for name in names {
            let indices: Vec<usize> = (0..batch.len()).filter(|i| batch[*i].instruction == name).collect();
            let Some(prepared) = self.prepare(name)? else {
                self.tally(name).skipped += indices.len() as u64;
                continue;
            };
            let cases: Vec<_> = indices.iter().map(|i| &batch[*i].case).collect();
            let answers = self.session.run(&prepared, &cases)?;
            for (index, answer) in indices.into_iter().zip(answers) {
                match answer {
                    Answer::Word(d) => {
                        out[index] = Some(d);
                        self.tally(name).cases += 1;
                    }
                    Answer::Disagree(words) => self.fault(&batch[index], &words)?,
                }
            }
        }
        Ok(out)
    }

    fn fault(&mut self, record: &Record, words: &[(u64, usize, (u16, u16, u16))]) -> Result<()> {
        self.tally(&record.instruction).position_failures += 1;
        match &mut self.faults {
            Some(file) => {
                let words: Vec<Value> = words
                    .iter()
                    .map(|(w, n, (b, r, c))| json!({ "word": format!("{w:x}"), "elements": n, "first": [b, r, c] }))
                    .collect();
                let line =
                    json!({ "fault": "position", "id": record.id, "instruction": record.instruction, "words": words });
                writeln!(file, "{line}")?;
            }
            None => eprintln!("{}: {}: position failure: {}", record.id, record.instruction, describe(words)),
        }
        Ok(())
    }

    fn report(&self) -> Value {
        let info = &self.session.worker.info;
        let instructions: Map<String, Value> = self
            .tallies
            .iter()
            .map(|(name, t)| {
                let mut value = json!({ "cases": t.cases, "probes": t.probes, "positionFailures": t.position_failures, "skipped": t.skipped });
                for (key, text) in [("opcode", &t.opcode), ("probeFailure", &t.probe_failure),
                    ("misplaced", &t.misplaced), ("unsupported", &t.unsupported)] {
                    if let Some(text) = text {
                        value[key] = Value::String(text.clone());
                    }
                }
                (name.clone(), value)
            })
            .collect();
        let mut device = Map::new();
        device.insert("id".into(), Value::String(self.device.clone()));
        device.insert("api".into(), Value::String(info.api.into()));
        device.extend(provenance(info).into_iter().map(|(k, v)| (k, Value::String(v))));
        json!({ "device": device, "instructions": instructions })
    }
}

/// Header of the output: the device, the opcodes of the first batch, and the input's campaign and seed.
fn header(recorder: &Recorder, input: Provenance) -> Provenance {
    let mut out = provenance(&recorder.session.worker.info);
    let opcodes: Vec<String> = recorder
        .tallies
        .iter()
        .filter_map(|(name, t)| {
            t.opcode.as_ref().map(|o| if recorder.tallies.len() == 1 { o.clone() } else { format!("{name}: {o}") })
        })
        .collect();
    if !opcodes.is_empty() {
        out.push(("opcode".into(), opcodes.join("; ")));
    }
    for (name, text) in input {
        if name == "source" {
            out.push(("inputs".into(), text));
        } else if !out.iter().any(|(n, _)| *n == name) {
            out.push((name, text));
        }
    }
    out
}

pub fn record(options: &Options) -> Result<()> {
    let source = if options.input == "-" { "standard input" } else { &options.input };
    let input = BufReader::with_capacity(1 << 20, open_input(&options.input)?);
    let mut reader = Reader::open(input, source)?;
    // Input errors come before the device is touched.
    let mut batch = reader.batch(options.batch)?;
    let worker = open_worker(options)?;
    let device = options.device.clone().unwrap_or_else(|| device_id(&worker.info.name, &worker.info.arch));
    let faults = match &options.faults {
        Some(path) => Some(open_output(&path.to_string_lossy())?),
        None => None,
    };
    let mut recorder = Recorder { options, session: Session::new(worker), device, tallies: Vec::new(), faults };
    let mut writer = None;
    let outcome = loop {
        if batch.is_empty() {
            break Ok(());
        }
        let answers = match recorder.run(&batch) {
            Ok(answers) => answers,
            Err(error) => break Err(error),
        };
        let writer = match &mut writer {
            Some(writer) => writer,
            none => {
                let output = BufWriter::with_capacity(1 << 20, open_output(&options.output)?);
                let form = options.form.unwrap_or_else(|| reader.form());
                none.insert(if options.no_header && form == Form::Jsonl {
                    Writer::bare(output)
                } else {
                    Writer::new(output, form, header(&recorder, reader.provenance()))
                })
            }
        };
        for (record, d) in batch.iter_mut().zip(answers) {
            if let Some(d) = d {
                record.device.clone_from(&recorder.device);
                writer.write(record, d)?;
            }
        }
        writer.flush()?;
        batch = match reader.batch(options.batch) {
            Ok(batch) => batch,
            Err(error) => break Err(error),
        };
    };
    if let Some(path) = &options.report {
        std::fs::write(path, format!("{:#}\n", recorder.report()))
            .map_err(|e| Error::Io(format!("{}: {e}", path.display())))?;
    }
    let total = |f: fn(&Tally) -> u64| recorder.tallies.iter().map(|(_, t)| f(t)).sum::<u64>();
    let (cases, positions, skipped) = (total(|t| t.cases), total(|t| t.position_failures), total(|t| t.skipped));
    eprintln!(
        "{cases} cases recorded on {}, {positions} position failures, {skipped} left out",
        recorder.session.worker.info.name
    );
    outcome.map_err(|e| with_finished(e, cases))?;
    if let Some(message) = recorder.tallies.iter().find_map(|(_, t)| t.probe_failure.clone()) {
        return Err(Error::Probe(message));
    }
    if positions > 0 {
        return Err(Error::Position(format!(
            "{positions} cases whose output elements disagree: their extraction is wrong, not their arithmetic"
        )));
    }
    Ok(())
}

fn with_finished(error: Error, cases: u64) -> Error {
    match error {
        Error::Device(message) => Error::Device(format!("{message}; {cases} finished cases are kept")),
        other => other,
    }
}
