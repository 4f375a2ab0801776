//! IEEE families whose every operation is one of the host's: fp32 and fp64 to nearest even.
//!
//! The host's +, * and mul_add are correctly rounded, keep subnormals, and leave only a NaN's payload open; that is
//! set at a chain's end. What they do not express (other roundings, sparse operands) runs in integers.

use crate::addend::widen;
use crate::events::{self, Events};
use crate::mutants::{self, Mutant};
use crate::program::{Chain, Program, output};
use crate::spec::{Datapath, MmaOp, Output, Pairwise, Rounding};
use crate::terms::{Line, SPECIAL};

/// Whether the host's arithmetic is the op's.
pub fn covers(op: &MmaOp) -> bool {
    let nearest = |output: &Output| {
        output.rounding == Rounding::NearestEven && matches!(output.format.name, "fp32" | "fp64")
    };
    let family = match &op.datapath {
        Datapath::SequentialFma(spec) => !spec.flush_inputs && !spec.flush_results && nearest(&spec.output),
        Datapath::Pairwise(spec) => {
            // Flushed results are told from others by their magnitude; fp16 and bf16 factors leave products exact or
            // rounded once.
            let operands = op.a.fraction_bits <= 10 && op.b.fraction_bits <= 10;
            spec.output.format.name == "fp32" && nearest(&spec.output) && operands
        }
        _ => false,
    };
    family && op.sparsity.is_none()
}

/// Runs the ops that `covers` names.
pub struct Host;

impl Chain for Host {
    fn run(&mut self, program: &Program, a: &Line, b: &Line, c: u64, events: &mut Events) -> u64 {
        let op = &program.op;
        let Some(output) = output(&op.datapath) else { unreachable!("integers have no host form") };
        let c = widen(c, op.c, output, events);
        let start = output.format.decode(c);
        let subnormal = start.sig != 0 && start.sig >> output.format.fraction_bits == 0;
        events.note_if(subnormal, events::SUBNORMAL_ADDEND);
        let flags = a.elems.iter().chain(&b.elems).fold(0, |flags, elem| flags | elem.flags);
        let finite = flags & SPECIAL == 0 && start.class == crate::format::Class::Finite;
        events.note_if(!finite, events::NON_FINITE);
        let (x, y) = (&a.floats[..], &b.floats[..]);
        let (word, nan, infinite) = match &op.datapath {
            Datapath::Pairwise(spec) => {
                let d = pairwise(spec, op.k, x, y, f32::from_bits(c as u32), !finite);
                (u64::from(d.to_bits()), d.is_nan(), d.is_infinite())
            }
            _ if output.format.word_bits == 64 => {
                let d = fma64(x, y, f64::from_bits(c));
                (d.to_bits(), d.is_nan(), d.is_infinite())
            }
            _ => {
                let d = fma32(x, y, f32::from_bits(c as u32));
                (u64::from(d.to_bits()), d.is_nan(), d.is_infinite())
            }
        };
        events.note_if(finite && (nan || infinite), events::OVERFLOW);
        if nan { output.nan } else { word }
    }
}

macro_rules! fused {
    ($name:ident, $hardware:ident, $type:ty) => {
        #[inline(always)]
        fn $hardware(a: &[f64], b: &[f64], c: $type) -> $type {
            a.iter().zip(b).fold(c, |c, (&x, &y)| (x as $type).mul_add(y as $type, c))
        }

        fn $name(a: &[f64], b: &[f64], c: $type) -> $type {
            #[cfg(target_arch = "x86_64")]
            if is_x86_feature_detected!("fma") {
                #[target_feature(enable = "fma")]
                fn with_fma(a: &[f64], b: &[f64], c: $type) -> $type {
                    $hardware(a, b, c)
                }
                // SAFETY: the processor has FMA, as just detected.
                return unsafe { with_fma(a, b, c) };
            }
            $hardware(a, b, c)
        }
    };
}

fused!(fma32, fma32_here, f32);
fused!(fma64, fma64_here, f64);

/// A subnormal becomes a zero of its sign.
fn flushed(x: f32, flush: bool) -> f32 {
    if flush && !mutants::on(Mutant::NoFlush) && x.abs() < f32::MIN_POSITIVE { 0f32.copysign(x) } else { x }
}

fn pairwise(spec: &Pairwise, k: usize, a: &[f64], b: &[f64], mut c: f32, special: bool) -> f32 {
    let flush = spec.flush_results;
    let mut leaves = [0f32; 64];
    let instructions = a.chunks(k).zip(b.chunks(k));
    for (a, b) in instructions.flat_map(|(a, b)| a.chunks(spec.block).zip(b.chunks(spec.block))) {
        c = flushed(c, spec.flush_inputs);
        if (special || c.is_infinite())
            && let Some(decided) = decided(a, b, c)
        {
            c = decided;
            continue;
        }
        let product = |i: usize| flushed(a[i] as f32 * b[i] as f32, flush);
        let tree = match a.len() {
            4 => {
                let low = flushed(product(0) + product(1), flush);
                if mutants::on(Mutant::Linear) {
                    c = flushed(c + flushed(flushed(low + product(2), flush) + product(3), flush), flush);
                    continue;
                }
                let high = flushed(product(2) + product(3), flush);
                flushed(low + high, flush)
            }
            n => {
                let mut spill = Vec::new();
                let all = if n <= leaves.len() {
                    &mut leaves[..n]
                } else {
                    spill.resize(n, 0f32);
                    &mut spill[..]
                };
                for (i, leaf) in all.iter_mut().enumerate() {
                    *leaf = product(i);
                }
                tree(all, flush)
            }
        };
        c = flushed(c + tree, flush);
    }
    c
}

/// The balanced tree's sum; a leaf without a partner goes up as it is.
fn tree(leaves: &mut [f32], flush: bool) -> f32 {
    let mut len = leaves.len();
    while len > 1 {
        for i in 0..len.div_ceil(2) {
            leaves[i] = match leaves[..len].get(2 * i + 1) {
                Some(&right) => flushed(leaves[2 * i] + right, flush),
                None => leaves[2 * i],
            };
        }
        len = len.div_ceil(2);
    }
    leaves[0]
}

/// The infinity or NaN that operands and c decide before any arithmetic (numerics section 3).
fn decided(a: &[f64], b: &[f64], c: f32) -> Option<f32> {
    // Products of non-finite factors are infinite or NaN, and their sums follow the section's rules.
    let terms =
        a.iter().zip(b).filter(|(x, y)| !x.is_finite() || !y.is_finite()).map(|(x, y)| (x * y) as f32);
    let start = if c.is_finite() { 0.0 } else { c };
    let sum = terms.fold(start, |sum, term| sum + term);
    (sum != 0.0).then_some(sum)
}
