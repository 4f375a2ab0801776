//! Lane probes: before any case counts, the extraction must answer exactly 1 in every output element.

use crate::case::Case;
use crate::format::Format;
use crate::instruction::{Instruction, Scaling};

pub struct Probe {
    pub name: String,
    pub case: Case,
    /// The word that every output element must give.
    pub expected: u64,
}

/// One live product at each k (1 * 1, everything else zero), and one case with c alone. Scale factors are 2 and 1/2
/// on the live K block and 4 on every other, so a block mapped wrongly shows. Sparse: selectors that make k active;
/// B is zero but at k, so a position mapped wrongly shows.
pub fn probes(i: &Instruction) -> Vec<Probe> {
    let mut out: Vec<Probe> =
        (0..i.k).map(|k| Probe { name: format!("lane {k}"), case: lane(i, k), expected: i.d.one() }).collect();
    let mut case = lane(i, 0);
    case.a[0] = 0;
    case.b[0] = 0;
    case.c = Some(i.c.one());
    out.push(Probe { name: "c alone".into(), case, expected: i.d.one() });
    out
}

fn lane(i: &Instruction, k: usize) -> Case {
    let mut a = vec![0; i.k];
    let mut b = vec![0; i.k];
    a[k] = i.a.one();
    b[k] = i.b.one();
    Case {
        a,
        b,
        c: Some(0),
        scale_a: scales(i, k, 1),
        scale_b: scales(i, k, -1),
        sparse: selectors(i, |chunk, size| if chunk == k / size { k % size } else { 0 }),
    }
}

fn scales(i: &Instruction, k: usize, exponent: i32) -> Vec<u8> {
    let Some(Scaling { format, block }) = i.scaling else { return Vec::new() };
    (0..i.scale_words()).map(|j| format.power_of_two(if j == k / block { exponent } else { 2 }) as u8).collect()
}

/// Metadata words whose selector of each chunk keeps the position that `position` names.
fn selectors(i: &Instruction, position: impl Fn(usize, usize) -> usize) -> Vec<u32> {
    let Some(rule) = i.sparsity else { return Vec::new() };
    let mut words = vec![0u32; i.sparse_words()];
    for chunk in 0..i.k / rule.chunk() {
        let wanted = position(chunk, rule.chunk());
        let selector =
            rule.legal().iter().copied().find(|s| rule.active(*s).contains(&wanted)).unwrap_or(rule.legal()[0]);
        words[chunk / 8] |= selector << (4 * (chunk % 8));
    }
    words
}

/// A matrix of zeros and ones against another, c a small integer: every output element has its own exact answer.
/// Tells rows, columns and blocks apart, which the replicated cases cannot. Scale factors are 1 or 2, each row's and
/// column's own.
pub struct MatrixProbe {
    pub a: Vec<u64>,
    pub b: Vec<u64>,
    pub c: Vec<u64>,
    pub d: Vec<u64>,
    pub scale_a: Vec<u64>,
    pub scale_b: Vec<u64>,
    /// Metadata words of each row of A.
    pub sparse: Vec<Vec<u32>>,
}

fn bit(seed: u64) -> u64 {
    // splitmix64's output function on a counter: a fixed pattern without structure.
    let mut z = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z ^ z >> 31) & 1
}

impl MatrixProbe {
    /// Row-major: a is blocks x m x k (logical), b is blocks x k x n, c and d are blocks x m x n, scale_a is m x K
    /// blocks, scale_b K blocks x n.
    pub fn new(i: &Instruction) -> MatrixProbe {
        let (m, n, k) = (i.m, i.n, i.k);
        let a: Vec<u64> = (0..i.blocks * m * k).map(|x| bit(x as u64)).collect();
        let b: Vec<u64> = (0..i.blocks * k * n).map(|x| bit(x as u64 + (1 << 40))).collect();
        let c: Vec<u64> =
            (0..i.blocks * m * n).map(|x| bit(x as u64 + (2 << 40)) + 2 * bit(x as u64 + (3 << 40))).collect();
        let sparse: Vec<Vec<u32>> =
            (0..m).map(|row| selectors(i, |chunk, size| (chunk * 7 + row / 8 + row + 3) % size)).collect();
        let active: Vec<Vec<usize>> = sparse.iter().map(|words| active(i, words)).collect();
        let scales = i.scale_words();
        let exponents_a: Vec<u64> = (0..m * scales).map(|x| bit(x as u64 + (4 << 40))).collect();
        let exponents_b: Vec<u64> = (0..scales * n).map(|x| bit(x as u64 + (5 << 40))).collect();
        let scale = |row: usize, col: usize, p: usize| match i.scaling {
            None => 0,
            Some(s) => exponents_a[row * scales + p / s.block] + exponents_b[p / s.block * n + col],
        };
        let mut d = Vec::with_capacity(c.len());
        for block in 0..i.blocks {
            for row in 0..m {
                for col in 0..n {
                    let sum: u64 = active[row]
                        .iter()
                        .map(|&p| (a[(block * m + row) * k + p] * b[(block * k + p) * n + col]) << scale(row, col, p))
                        .sum();
                    d.push(sum + c[(block * m + row) * n + col]);
                }
            }
        }
        let words = |values: Vec<u64>, f: Format| values.into_iter().map(|v| f.small_integer(v as u32)).collect();
        let powers = |exponents: Vec<u64>| match i.scaling {
            None => Vec::new(),
            Some(s) => exponents.into_iter().map(|e| s.format.power_of_two(e as i32)).collect(),
        };
        MatrixProbe {
            a: words(a, i.a),
            b: words(b, i.b),
            c: words(c, i.c),
            d: words(d, i.d),
            scale_a: powers(exponents_a),
            scale_b: powers(exponents_b),
            sparse,
        }
    }
}

/// Logical k positions that take part, in storage order.
pub fn active(i: &Instruction, sparse: &[u32]) -> Vec<usize> {
    match i.sparsity {
        None => (0..i.k).collect(),
        Some(rule) => (0..i.k / rule.chunk())
            .flat_map(|chunk| {
                let selector = sparse[chunk / 8] >> (4 * (chunk % 8)) & 15;
                rule.active(selector).into_iter().map(move |p| chunk * rule.chunk() + p)
            })
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probes_are_legal_cases() {
        for name in crate::forms::all_names() {
            let i = Instruction::parse(&name).unwrap();
            let all = probes(&i);
            assert_eq!(all.len(), i.k + 1);
            for p in &all {
                p.case.check(&i).unwrap_or_else(|e| panic!("{name} {}: {e}", p.name));
            }
        }
    }

    #[test]
    fn live_product_is_active() {
        let i = Instruction::parse("tcgen05.mma.sp.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.ue8m0").unwrap();
        for (k, p) in probes(&i).iter().take(i.k).enumerate() {
            assert!(active(&i, &p.case.sparse).contains(&k));
            assert_eq!(
                (p.case.scale_a[k / 64], p.case.scale_b[k / 64], p.case.scale_a[1 - k / 64]),
                (0x80, 0x7e, 0x81)
            );
        }
    }
}
