//! Generated cases with the reference's results (see `cases.jsonl`, written by scripts/cases.mjs), and the mutants that
//! they must catch.

use crate::cells::Cells;
use crate::events::Counts;
use crate::gemm::{Dots, dots};
use crate::mutants::{CURRENT, Mutant};
use crate::program::Program;
use crate::spec::MmaOp;
use std::panic::{AssertUnwindSafe, catch_unwind};

struct Set {
    program: Program,
    cases: Vec<[String; 7]>,
}

fn sets() -> Vec<Set> {
    #[derive(serde::Deserialize)]
    struct Line {
        op: serde_json::Value,
        cases: Vec<[String; 7]>,
    }
    let line = |text: &str| {
        let line: Line = serde_json::from_str(text).unwrap();
        let program = Program::new(MmaOp::parse(&line.op.to_string()).unwrap()).unwrap();
        Set { program, cases: line.cases }
    };
    include_str!("cases.jsonl").lines().map(line).collect()
}

/// Words of `bytes` bytes from hex digits, little-endian.
fn words(hex: &str, bytes: usize) -> Vec<u8> {
    let word = |digits: &[u8]| u64::from_str_radix(std::str::from_utf8(digits).unwrap(), 16).unwrap();
    let chunks = hex.as_bytes().chunks(2 * bytes);
    chunks.flat_map(|digits| word(digits).to_le_bytes()[..bytes].to_vec()).collect()
}

/// The word that the generic path gives for a case.
fn run(program: &Program, [a, b, c, scale_a, scale_b, sparse, _]: &[String; 7]) -> u64 {
    let op = &program.op;
    let given = |hex: &str, bytes| (!hex.is_empty()).then(|| words(hex, bytes));
    let (a, b) = (words(a, op.a.word_bytes()), words(b, op.b.word_bytes()));
    let (scale_a, scale_b, sparse) = (given(scale_a, 1), given(scale_b, 1), given(sparse, 4));
    let (mut c, mut d) = (words(c, op.c.word_bytes()), vec![0; op.d.word_bytes()]);
    let cells = |words: &mut Vec<u8>| {
        // SAFETY: the vector outlives the batch, and nothing else touches it meanwhile.
        unsafe { Cells::new(words.as_mut_ptr(), words.len(), 0, 1, 1) }
    };
    let batch = Dots {
        count: 1,
        k: a.len() / op.a.word_bytes(),
        a: &a,
        b: &b,
        c: Some(cells(&mut c)),
        scale_a: scale_a.as_deref(),
        scale_b: scale_b.as_deref(),
        sparse: sparse.as_deref(),
        d: cells(&mut d),
    };
    batch.check(program).unwrap();
    dots(program, &batch, &mut Counts::default());
    batch.d.get(op.d.word_bytes(), 0, 0)
}

/// Cases whose word differs from the reference's; a panic counts as one.
fn wrong(sets: &[Set]) -> usize {
    let differs = |set: &Set, case: &[String; 7]| {
        let expected = u64::from_str_radix(&case[6], 16).unwrap();
        catch_unwind(AssertUnwindSafe(|| run(&set.program, case))).map_or(true, |word| word != expected)
    };
    sets.iter().map(|set| set.cases.iter().filter(|case| differs(set, case)).count()).sum()
}

#[test]
fn every_case_is_the_references() {
    let sets = sets();
    assert!(sets.iter().map(|set| set.cases.len()).sum::<usize>() >= 1000);
    assert_eq!(wrong(&sets), 0);
}

#[test]
fn every_mutant_is_caught() {
    use Mutant::*;
    let mutants = [
        CutDown,
        AddendCutDown,
        NoFloor,
        ZeroExponent,
        RenormalisedProduct,
        NoZeroAddendExponent,
        SubnormalAddendExponent,
        AddendNotWidened,
        NoWideSum,
        NoCarry,
        TiesAway,
        NoSubnormals,
        OverflowSaturates,
        SignedUnderflow,
        NoSpecials,
        InfinityTimesZero,
        AbsentSpecials,
        OneField,
        QuietScaleNan,
        NoProductOverflow,
        SumUncut,
        NormalUncut,
        EndlessReach,
        MergeUncut,
        HalvesSwapped,
        NoOddEven,
        NoFlush,
        Linear,
        NoScaleFloor,
        GroupsOfOne,
        NoGroupAddend,
        NoLeaveOut,
        NoPass,
        NoSaturation,
        ForgottenChain,
    ];
    // The default hook would print each panic that a mutant provokes.
    std::panic::set_hook(Box::new(|_| {}));
    let survivors: Vec<Mutant> = mutants
        .into_iter()
        .filter(|&mutant| {
            CURRENT.set(Some(mutant));
            // Programs compile under the mutant too.
            let caught = wrong(&sets());
            CURRENT.set(None);
            println!("{mutant:?}: {caught} cases");
            caught == 0
        })
        .collect();
    let _ = std::panic::take_hook();
    assert_eq!(survivors, []);
}
