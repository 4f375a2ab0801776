//! An op made ready to run: its family, its constants, and the width of its sums.

use crate::addend::widen;
use crate::datapath;
use crate::events::Events;
use crate::format::Kind;
use crate::host;
use crate::mutants::{self, Mutant};
use crate::operand::{Decoder, Inputs};
use crate::spec::{Datapath, MmaOp, Output};
use crate::sum::{Sum, Wide};
use crate::terms::{Line, Terms};
use crate::unit::Unit;
use std::marker::PhantomData;

/// An op and its constants. `bits`: width of its sums.
pub struct Program {
    pub op: MmaOp,
    pub unit: Unit,
    pub bits: i32,
    /// Where lines hold the positions of one instruction in another order than theirs; else empty.
    pub order: Vec<usize>,
}

/// Widest sum that is supported: products of fp64 operands, exactly.
const WIDEST: i32 = 76 * 64;

impl Program {
    /// Compiles an op; the error says in one sentence what is not supported.
    pub fn new(op: MmaOp) -> Result<Program, String> {
        check(&op)?;
        let unit = Unit::new(&op);
        let bits = match &op.datapath {
            Datapath::FusedWindow(spec) => datapath::fused_window::width(spec, &unit),
            Datapath::LateWindow(spec) => datapath::late_window::width(spec, &unit),
            Datapath::SplitWindow(spec) => datapath::split_window::width(spec, &unit),
            Datapath::Exact(spec) => datapath::exact::width(spec, &unit),
            Datapath::Cdna3Window(spec) => datapath::cdna3_window::width(spec, &unit),
            Datapath::Cdna3OddEven(spec) => datapath::cdna3_odd_even::width(spec, &unit),
            Datapath::ScaledWindow(spec) => datapath::scaled_window::width(spec, &unit),
            Datapath::ScaledGroups(spec) => datapath::scaled_groups::width(spec, &unit),
            Datapath::Pairwise(_) | Datapath::SequentialFma(_) | Datapath::Integer(_) => 64,
        };
        if bits > WIDEST {
            return Err(format!("datapath: its sums need {bits} bits, at most {WIDEST} are supported"));
        }
        let order = match &op.datapath {
            Datapath::SplitWindow(spec) => datapath::split_window::order(spec, op.k),
            Datapath::Cdna3OddEven(spec) => datapath::cdna3_odd_even::order(spec, op.k),
            _ => Vec::new(),
        };
        Ok(Program { op, unit, bits, order })
    }

    /// Whether subnormal operands are flushed before anything else.
    fn flushes_inputs(&self) -> bool {
        match &self.op.datapath {
            Datapath::Pairwise(spec) => spec.flush_inputs,
            Datapath::SequentialFma(spec) => spec.flush_inputs,
            _ => false,
        }
    }

    /// Decodes these operands for this op.
    pub fn decoder<'a>(&'a self, inputs: &'a Inputs<'a>) -> Decoder<'a> {
        Decoder {
            op: &self.op,
            inputs,
            flush: self.flushes_inputs(),
            order: &self.order,
            floats: host::covers(&self.op),
        }
    }

    /// A chain runner with its own buffers.
    pub fn runner(&self) -> Box<dyn Chain> {
        if host::covers(&self.op) {
            return Box::new(host::Host);
        }
        let exact = matches!(self.op.datapath, Datapath::Exact(_));
        match self.bits {
            ..=64 if !exact => Box::new(Narrow::default()),
            bits if bits <= 128 => Box::new(Runner::<i128>::default()),
            ..=256 => Box::new(Runner::<Wide<4>>::default()),
            257..=640 => Box::new(Runner::<Wide<10>>::default()),
            _ => Box::new(Runner::<Wide<{ WIDEST as usize / 64 }>>::default()),
        }
    }
}

/// The conversion that ends a step of this datapath; integers have none.
pub fn output(datapath: &Datapath) -> Option<&Output> {
    match datapath {
        Datapath::FusedWindow(spec) => Some(&spec.output),
        Datapath::LateWindow(spec) => Some(&spec.output),
        Datapath::SplitWindow(spec) => Some(&spec.output),
        Datapath::Exact(spec) => Some(&spec.output),
        Datapath::Pairwise(spec) => Some(&spec.output),
        Datapath::Cdna3Window(spec) => Some(&spec.output),
        Datapath::Cdna3OddEven(spec) => Some(&spec.output),
        Datapath::SequentialFma(spec) => Some(&spec.output),
        Datapath::ScaledWindow(spec) => Some(&spec.output),
        Datapath::ScaledGroups(spec) => Some(&spec.output),
        Datapath::Integer(_) => None,
    }
}

fn check(op: &MmaOp) -> Result<(), String> {
    let require = |holds: bool, message: String| if holds { Ok(()) } else { Err(message) };
    require(op.k > 0, "k: expected at least 1, got 0".into())?;
    let block = match &op.datapath {
        Datapath::FusedWindow(spec) => spec.block,
        Datapath::LateWindow(spec) => spec.block,
        Datapath::SplitWindow(spec) => spec.block,
        Datapath::Exact(spec) => spec.block,
        Datapath::Pairwise(spec) => spec.block,
        Datapath::Cdna3Window(spec) => spec.block,
        Datapath::Cdna3OddEven(spec) => spec.block,
        Datapath::ScaledGroups(spec) => spec.group.min(spec.dominant_group),
        Datapath::SequentialFma(_) | Datapath::Integer(_) | Datapath::ScaledWindow(_) => 1,
    };
    require(block > 0, "datapath: expected a block of at least 1 term, got 0".into())?;
    let scaled = matches!(op.datapath, Datapath::ScaledWindow(_) | Datapath::ScaledGroups(_));
    require(scaled == op.scaling.is_some(), "scaling: scaled datapaths have it, others have none".into())?;
    if let Some(scaling) = &op.scaling {
        require(scaling.block > 0, "scaling.block: expected at least 1, got 0".into())?;
    }
    let Some(output) = output(&op.datapath) else {
        let integers = [op.a, op.b, op.c, op.d].iter().all(|format| format.kind == Kind::Integer);
        require(integers, "datapath integer: expected integer formats".into())?;
        return require(op.c.word_bits == 32 && op.d.word_bits == 32, "c, d: expected s32".into());
    };
    for (name, format) in [("a", op.a), ("b", op.b), ("c", op.c), ("d", op.d)] {
        require(format.kind == Kind::Float, format!("{name}: expected a float format, got {}", format.name))?;
    }
    require(
        output.format.name == op.d.name,
        format!("datapath.output.format: expected d's format {}, got {}", op.d.name, output.format.name),
    )?;
    require(
        output.precision <= output.format.fraction_bits,
        format!("datapath.output.precision: expected at most {}", output.format.fraction_bits),
    )?;
    let (c, d) = (op.c, op.d);
    let holds =
        c.fraction_bits <= d.fraction_bits && c.exponent_bits <= d.exponent_bits && c.dropped_bits == 0;
    require(holds, format!("c: expected a format whose values {} holds, got {}", d.name, c.name))
}

/// Runs chains of one element.
pub trait Chain {
    /// From c's word to d's, instruction by instruction. Both lines are whole numbers of instructions long.
    fn run(&mut self, program: &Program, a: &Line, b: &Line, c: u64, events: &mut Events) -> u64;
}

struct Runner<S> {
    words: Vec<u64>,
    sums: PhantomData<S>,
}

impl<S> Default for Runner<S> {
    fn default() -> Self {
        Runner { words: Vec::new(), sums: PhantomData }
    }
}

impl<S: Sum<Sig = i128>> Chain for Runner<S> {
    fn run(&mut self, program: &Program, a: &Line, b: &Line, c: u64, events: &mut Events) -> u64 {
        match &program.op.datapath {
            Datapath::Exact(spec) => chain(program, a, b, c, events, |terms, c, events| {
                datapath::exact::instruction::<S>(spec, &program.unit, terms, c, events)
            }),
            _ => families::<S>(program, a, b, c, &mut self.words, events),
        }
    }
}

/// Sums of 64 bits, which no exact datapath has.
#[derive(Default)]
struct Narrow {
    words: Vec<u64>,
}

impl Chain for Narrow {
    fn run(&mut self, program: &Program, a: &Line, b: &Line, c: u64, events: &mut Events) -> u64 {
        families::<i64>(program, a, b, c, &mut self.words, events)
    }
}

/// Runs `step` over the instructions of a chain.
fn chain(
    program: &Program,
    a: &Line,
    b: &Line,
    c: u64,
    events: &mut Events,
    mut step: impl FnMut(&Terms<'_>, u64, &mut Events) -> u64,
) -> u64 {
    let op = &program.op;
    let mut word = output(&op.datapath).map_or(c, |output| widen(c, op.c, output, events));
    let all = Terms { a: &a.elems, b: &b.elems, scale_a: &a.scales, scale_b: &b.scales };
    let nan = output(&op.datapath).map(|output| output.nan);
    let first = word;
    for instruction in all.blocks(op.k) {
        let start = if mutants::on(Mutant::ForgottenChain) { first } else { word };
        word = step(&instruction, start, events);
        // Every later step takes it as c and gives it again (numerics section 3).
        if Some(word) == nan {
            break;
        }
    }
    word
}

fn families<S: Sum>(
    program: &Program,
    a: &Line,
    b: &Line,
    c: u64,
    words: &mut Vec<u64>,
    events: &mut Events,
) -> u64 {
    let unit = &program.unit;
    macro_rules! with {
        ($family:ident, $spec:expr) => {
            chain(program, a, b, c, events, |terms, c, events| {
                datapath::$family::instruction::<S>($spec, unit, terms, c, events)
            })
        };
    }
    match &program.op.datapath {
        Datapath::FusedWindow(spec) => with!(fused_window, spec),
        Datapath::LateWindow(spec) => with!(late_window, spec),
        Datapath::SplitWindow(spec) => with!(split_window, spec),
        Datapath::Cdna3Window(spec) => with!(cdna3_window, spec),
        Datapath::Cdna3OddEven(spec) => with!(cdna3_odd_even, spec),
        Datapath::ScaledWindow(spec) => with!(scaled_window, spec),
        Datapath::ScaledGroups(spec) => with!(scaled_groups, spec),
        Datapath::Pairwise(spec) => chain(program, a, b, c, events, |terms, c, events| {
            datapath::pairwise::instruction(spec, unit, terms, c, words, events)
        }),
        Datapath::SequentialFma(spec) => chain(program, a, b, c, events, |terms, c, events| {
            datapath::sequential_fma::instruction(spec, unit, terms, c, events)
        }),
        Datapath::Integer(spec) => chain(program, a, b, c, events, |terms, c, events| {
            datapath::integer::instruction(spec, terms, c, events)
        }),
        Datapath::Exact(_) => unreachable!("exact datapaths run on sums of 128 bits and more"),
    }
}
