//! tcgen05 mxf4, mxf4nvf4: exact sums of small groups, each cut to one quantum (numerics section 6).

use crate::addend::Addend;
use crate::events::{self, Events};
use crate::format::Class;
use crate::mutants::{self, Mutant};
use crate::round::finish;
use crate::spec::{Rounding, ScaledGroups};
use crate::special::special;
use crate::sum::Sum;
use crate::terms::{NO_EXPONENT, Terms};
use crate::unit::{Unit, log2_ceil};

/// The exact sum of one group in units of 2^lsb, the largest exponent and the largest scale exponent among its
/// nonzero products.
#[derive(Clone, Copy)]
struct Group<S> {
    sum: S,
    lsb: i32,
    e: i32,
    scale: i32,
}

fn groups<'a, S: Sum>(unit: &'a Unit, terms: &Terms<'a>, size: usize) -> impl Iterator<Item = Group<S>> + 'a {
    terms.blocks(size).map(|group| {
        let nonzero = group.pairs().filter(|(a, b)| a.sig != 0 && b.sig != 0);
        let lsb = nonzero.map(|(a, b)| a.e + b.e).min().unwrap_or(0) - unit.fraction;
        let sum = group.aligned(unit.fraction, lsb, Rounding::Zero);
        Group { sum, lsb, e: group.scan().e, scale: group.scale() }
    })
}

impl<S: Sum> Group<S> {
    fn cut(&self, quantum: i32) -> S {
        // A group without a product has no unit that a shift could start from.
        if self.e == NO_EXPONENT { S::ZERO } else { self.sum.shift(self.lsb - quantum, Rounding::Zero) }
    }
}

pub fn instruction<S: Sum>(
    spec: &ScaledGroups,
    unit: &Unit,
    terms: &Terms<'_>,
    word: u64,
    events: &mut Events,
) -> u64 {
    let found = terms.scan();
    let c = Addend::decode(spec.output.format, word, events);
    if let Some(word) = special(terms, found.flags, Some(&c), &spec.output, events) {
        return word;
    }
    if found.e == NO_EXPONENT {
        events.note(events::ADDEND_PASSED);
        return word;
    }
    if c.sig != 0 && c.e >= found.e {
        events.note(events::ADDEND_DOMINANT);
        let quantum = c.e - spec.dominant_fraction;
        let sum = groups::<S>(unit, terms, spec.dominant_group)
            .fold(S::ZERO, |sum, group| sum.add(group.cut(quantum)));
        return finish(sum.add(c.aligned(quantum, Rounding::Zero)).value(quantum), &spec.output, events);
    }
    balanced::<S>(spec, unit, terms, &c, found.e, events)
}

/// c is zero or its exponent below the products' largest, `largest`.
fn balanced<S: Sum>(
    spec: &ScaledGroups,
    unit: &Unit,
    terms: &Terms<'_>,
    c: &Addend,
    largest: i32,
    events: &mut Events,
) -> u64 {
    let size = if mutants::on(Mutant::GroupsOfOne) { 1 } else { spec.group };
    let members: Vec<Group<S>> = groups::<S>(unit, terms, size).collect();
    let scale = members.iter().map(|group| group.scale).max().unwrap_or(NO_EXPONENT);
    let by_products = largest.max(c.term_exponent()) - spec.product_fraction;
    let by_scales = if mutants::on(Mutant::NoScaleFloor) { NO_EXPONENT } else { scale - spec.scale_fraction };
    let quantum = by_products.max(by_scales);
    events.note_if(quantum > by_products, events::SCALE_FLOOR);
    let cut = |group: &Group<S>, events: &mut Events| match spec.group_addend_fraction {
        Some(_) if mutants::on(Mutant::NoGroupAddend) => group.cut(quantum),
        Some(fraction) if c.sig != 0 && group.e != NO_EXPONENT && c.e >= group.e => {
            let coarser = quantum.max(c.e - fraction);
            events.note_if(coarser > quantum, events::GROUP_ADDEND_CUT);
            group.cut(coarser).shift(coarser - quantum, Rounding::Zero)
        }
        _ => group.cut(quantum),
    };
    let sum = members.iter().fold(S::ZERO, |sum, group| sum.add(cut(group, events)));
    let result = finish(sum.add(c.aligned(quantum, Rounding::Zero)).value(quantum), &spec.output, events);
    let limits = spec.leave_out.filter(|_| !mutants::on(Mutant::NoLeaveOut));
    let Some(limit) = limits.filter(|&limit| c.sig == 0 && quantum < limit) else {
        return result;
    };
    let x = spec.output.format.decode(result);
    if x.class != Class::Finite || x.sig == 0 || x.sig >> spec.output.format.fraction_bits != 0 {
        return result;
    }
    let stays = |group: &&Group<S>| {
        group.scale >= scale || group.cut(quantum).value(quantum).is_some_and(|value| value.lead() >= limit)
    };
    let sum = members.iter().filter(stays).fold(S::ZERO, |sum, group| sum.add(group.cut(quantum)));
    events.note(events::GROUPS_LEFT_OUT);
    finish(sum.value(quantum), &spec.output, events)
}

/// Bits that a sum needs, with its sign: the sum of cut groups, or one group's exact sum, whose terms spread over
/// the elements' exponents and, where a group spans scale blocks, the scales'.
pub fn width(spec: &ScaledGroups, unit: &Unit) -> i32 {
    let fraction = spec.dominant_fraction.max(spec.product_fraction);
    let window = unit.window_bits(fraction, unit.k);
    let size = spec.group.max(spec.dominant_group).min(unit.k);
    let one_scale = |group: usize| unit.scale_block.is_multiple_of(group);
    let mut spread = unit.exponents.1 - unit.exponents.0;
    if !(one_scale(spec.group) && one_scale(spec.dominant_group)) {
        spread += unit.scale_exponents.1 - unit.scale_exponents.0;
    }
    window.max(spread + unit.product_bits() + log2_ceil(size))
}
