//! A device and the instructions prepared on it: compile, probe, run.

use crate::case::Case;
use crate::driver::worker::Worker;
use crate::error::{Error, Result};
use crate::image::{Answer, Packer};
use crate::instruction::Instruction;
use crate::kernel;
use crate::probe::{probes, MatrixProbe};
use std::collections::HashMap;
use std::rc::Rc;

/// Bytes of input images in one launch.
const LAUNCH_BYTES: usize = 64 << 20;

pub struct Prepared {
    pub instruction: Instruction,
    pub opcode: Option<String>,
    /// Lane probes that answered 1.
    pub probes: usize,
    /// What the matrix probe found wrong: rows, columns or blocks are not where the tables say. The replicated cases
    /// do not depend on that (every row, column and block is alike), so they may still be recorded.
    pub misplaced: Option<String>,
    packer: Packer,
    program: usize,
}

pub struct Session {
    pub worker: Worker,
    prepared: HashMap<String, Rc<Prepared>>,
    buffer: Vec<u8>,
}

impl Session {
    pub fn new(worker: Worker) -> Session {
        Session { worker, prepared: HashMap::new(), buffer: Vec::new() }
    }

    /// Compiles the instruction's kernel and probes it, once.
    /// Errors: Unavailable where the device lacks it, Probe where the extraction does not answer 1.
    pub fn prepare(&mut self, name: &str) -> Result<Rc<Prepared>> {
        if let Some(found) = self.prepared.get(name) {
            return Ok(found.clone());
        }
        let instruction = Instruction::parse(name)?;
        let packer = Packer::new(&instruction);
        let source = kernel::kernel(&instruction, &packer.layout, &self.worker.info.arch).map_err(|why| {
            Error::unavailable(
                why,
                format!("{} is {}; choose a device that has it", self.worker.info.name, self.worker.info.arch),
            )
        })?;
        let (program, opcode) = self.worker.compile(source)?;
        let mut prepared = Prepared { instruction, opcode, probes: 0, misplaced: None, packer, program };
        prepared.probes = self.probe_lanes(&prepared)?;
        prepared.misplaced = self.probe_matrix(&prepared)?;
        let prepared = Rc::new(prepared);
        self.prepared.insert(name.into(), prepared.clone());
        Ok(prepared)
    }

    /// Runs the lane probes; their number.
    fn probe_lanes(&mut self, p: &Prepared) -> Result<usize> {
        let name = &p.instruction.name;
        let list = probes(&p.instruction);
        let cases: Vec<Case> = list.iter().map(|probe| probe.case.clone()).collect();
        for (probe, answer) in list.iter().zip(self.answers(p, &cases)?) {
            let said = match answer {
                Answer::Word(word) if word == probe.expected => continue,
                Answer::Word(word) => format!("every output element gave {word:x}"),
                Answer::Disagree(words) => describe(&words),
            };
            return Err(Error::Probe(format!(
                "{name}: probe '{}' must give {:x} in every output element, but {said}; no case was counted",
                probe.name, probe.expected
            )));
        }
        Ok(list.len())
    }

    /// Runs the matrix probe; what is wrong, if anything.
    fn probe_matrix(&mut self, p: &Prepared) -> Result<Option<String>> {
        let matrix = MatrixProbe::new(&p.instruction);
        let mut input = vec![0u8; p.packer.layout.input_bytes];
        p.packer.pack_matrix(&p.instruction, &matrix, &mut input);
        let (_, output) = self.worker.run(p.program, input, p.packer.layout.output_bytes, 1)?;
        let wrong = p.packer.check_matrix(&p.instruction, &matrix, &output);
        Ok(wrong.map(|((block, row, col), expected, got)| {
            format!(
                "{}: the matrix probe must give {expected:x} at block {block}, row {row}, column {col}, but gave {got:x}",
                p.instruction.name
            )
        }))
    }

    /// Runs cases of exactly K positions.
    fn answers(&mut self, p: &Prepared, cases: &[Case]) -> Result<Vec<Answer>> {
        let (size, out_size) = (p.packer.layout.input_bytes, p.packer.layout.output_bytes);
        let per_launch = (LAUNCH_BYTES / size).max(1);
        let mut out = Vec::with_capacity(cases.len());
        for part in cases.chunks(per_launch) {
            let mut input = std::mem::take(&mut self.buffer);
            input.resize(part.len() * size, 0);
            for (case, image) in part.iter().zip(input.chunks_mut(size)) {
                p.packer.pack(case, image);
            }
            let (input, output) = self.worker.run(p.program, input, part.len() * out_size, part.len() as u32)?;
            self.buffer = input;
            out.extend(output.chunks(out_size).map(|image| p.packer.answer(image)));
        }
        Ok(out)
    }

    /// Runs cases; longer ones chain, d of a step being c of the next.
    pub fn run(&mut self, p: &Prepared, cases: &[&Case]) -> Result<Vec<Answer>> {
        let i = &p.instruction;
        let steps = cases.iter().map(|c| c.steps(i)).max().unwrap_or(0);
        let mut answers: Vec<Option<Answer>> = vec![None; cases.len()];
        for step in 0..steps {
            let mut live = Vec::new();
            let mut parts = Vec::new();
            for (index, case) in cases.iter().enumerate() {
                if step >= case.steps(i) {
                    continue;
                }
                let mut part = case.step(i, step);
                match &answers[index] {
                    None => {}
                    Some(Answer::Word(d)) => part.c = Some(*d),
                    Some(Answer::Disagree(_)) => continue,
                }
                live.push(index);
                parts.push(part);
            }
            for (index, answer) in live.into_iter().zip(self.answers(p, &parts)?) {
                answers[index] = Some(answer);
            }
        }
        answers.into_iter().map(|a| a.ok_or_else(|| Error::Input("a case without words".into()))).collect()
    }
}

/// `3fc00000 at 120 elements, 0 at 8 (first: block 0, row 8, column 0)`.
pub fn describe(words: &[(u64, usize, (u16, u16, u16))]) -> String {
    let parts: Vec<String> = words
        .iter()
        .take(4)
        .map(|(word, count, (block, row, col))| {
            format!("{count} elements gave {word:x} (first: block {block}, row {row}, column {col})")
        })
        .collect();
    let more = if words.len() > 4 { format!(", and {} more words", words.len() - 4) } else { String::new() };
    parts.join(", ") + &more
}
