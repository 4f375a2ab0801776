//! Fragments of V_MFMA, from AMD's CDNA instruction set guides ("Matrix arithmetic instructions") and the matrix
//! instruction calculator.
//!
//! A and B: with p = m*k*blocks/64 elements a lane, lane = row + m*(block + blocks*(k / p)), element k % p; B alike
//! over columns. Accumulators: below, `accumulator`.

use super::{Layout, Matrix, Parts, Registers};
use crate::format::Format;
use crate::instruction::{Family, Instruction, Kind};

pub const LANES: usize = 64;

/// One MFMA of the catalog: shape, blocks, operand type, whether bf16 is of the `_1k` form (four elements a lane),
/// and the targets that have it.
pub struct Form {
    pub m: usize,
    pub k: usize,
    pub blocks: usize,
    pub a: Format,
    pub b: Format,
    pub one_k: bool,
    pub targets: &'static [&'static str],
}

const ALL: &[&str] = &["gfx908", "gfx90a", "gfx942"];
const CDNA12: &[&str] = &["gfx908", "gfx90a"];
const CDNA23: &[&str] = &["gfx90a", "gfx942"];
const CDNA3: &[&str] = &["gfx942"];

const fn form(
    m: usize,
    k: usize,
    blocks: usize,
    a: Format,
    b: Format,
    one_k: bool,
    targets: &'static [&'static str],
) -> Form {
    Form { m, k, blocks, a, b, one_k, targets }
}

use Format::{Bf16, E4m3fnuz as F8, E5m2fnuz as B8, Fp16, Fp32, Fp64, Tf32, S32, S8};

pub const FORMS: [Form; 39] = [
    form(32, 1, 2, Fp32, Fp32, false, ALL),
    form(16, 1, 4, Fp32, Fp32, false, ALL),
    form(4, 1, 16, Fp32, Fp32, false, ALL),
    form(32, 2, 1, Fp32, Fp32, false, ALL),
    form(16, 4, 1, Fp32, Fp32, false, ALL),
    form(32, 4, 2, Fp16, Fp16, false, ALL),
    form(16, 4, 4, Fp16, Fp16, false, ALL),
    form(4, 4, 16, Fp16, Fp16, false, ALL),
    form(32, 8, 1, Fp16, Fp16, false, ALL),
    form(16, 16, 1, Fp16, Fp16, false, ALL),
    form(32, 2, 2, Bf16, Bf16, false, CDNA12),
    form(16, 2, 4, Bf16, Bf16, false, CDNA12),
    form(4, 2, 16, Bf16, Bf16, false, CDNA12),
    form(32, 4, 1, Bf16, Bf16, false, CDNA12),
    form(16, 8, 1, Bf16, Bf16, false, CDNA12),
    form(32, 4, 2, Bf16, Bf16, true, CDNA23),
    form(16, 4, 4, Bf16, Bf16, true, CDNA23),
    form(4, 4, 16, Bf16, Bf16, true, CDNA23),
    form(32, 8, 1, Bf16, Bf16, true, CDNA23),
    form(16, 16, 1, Bf16, Bf16, true, CDNA23),
    form(16, 4, 1, Fp64, Fp64, false, CDNA23),
    form(4, 4, 4, Fp64, Fp64, false, CDNA23),
    form(16, 8, 1, Tf32, Tf32, false, CDNA3),
    form(32, 4, 1, Tf32, Tf32, false, CDNA3),
    form(16, 32, 1, F8, F8, false, CDNA3),
    form(16, 32, 1, F8, B8, false, CDNA3),
    form(16, 32, 1, B8, F8, false, CDNA3),
    form(16, 32, 1, B8, B8, false, CDNA3),
    form(32, 16, 1, F8, F8, false, CDNA3),
    form(32, 16, 1, F8, B8, false, CDNA3),
    form(32, 16, 1, B8, F8, false, CDNA3),
    form(32, 16, 1, B8, B8, false, CDNA3),
    form(32, 4, 2, S8, S8, false, ALL),
    form(16, 4, 4, S8, S8, false, ALL),
    form(4, 4, 16, S8, S8, false, ALL),
    form(32, 8, 1, S8, S8, false, CDNA12),
    form(16, 16, 1, S8, S8, false, CDNA12),
    form(32, 16, 1, S8, S8, false, CDNA3),
    form(16, 32, 1, S8, S8, false, CDNA3),
];

fn type_token(f: &Form) -> String {
    match (f.a, f.b) {
        (Tf32, _) => "xf32".into(),
        (S8, _) => "i8".into(),
        (F8 | B8, _) => format!("{}_{}", f.a.token(), f.b.token()),
        _ => f.a.token().into(),
    }
}

impl Form {
    fn result(&self) -> Format {
        match self.a {
            Fp64 => Fp64,
            S8 => S32,
            _ => Fp32,
        }
    }

    /// The result's token in a mnemonic.
    fn result_token(&self) -> &'static str {
        if self.a == S8 {
            "i32"
        } else {
            self.result().token()
        }
    }

    /// Whether the type is set off by an underscore in CDNA1/2's spelling and in the compiler's: forms that CDNA3
    /// brought.
    fn separator(&self) -> &'static str {
        if self.targets.len() == 1 {
            "_"
        } else {
            ""
        }
    }

    /// The compiler's builtin.
    pub fn builtin(&self) -> String {
        let sep = self.separator();
        let suffix = if self.one_k { "_1k" } else { "" };
        let (d, m, k) = (self.result_token(), self.m, self.k);
        format!("__builtin_amdgcn_mfma_{d}_{m}x{m}x{k}{sep}{}{suffix}", type_token(self))
    }

    /// Both spellings: CDNA1/2's, then CDNA3's.
    pub fn names(&self) -> [String; 2] {
        let (d, m, k, t) = (self.result_token(), self.m, self.k, type_token(self));
        let suffix = if self.one_k { "_1k" } else { "" };
        let sep = self.separator();
        let old = format!("v_mfma_{d}_{m}x{m}x{k}{sep}{t}{suffix}");
        let blocks = if self.blocks > 1 { format!("_{}b", self.blocks) } else { String::new() };
        [old, format!("v_mfma_{d}_{m}x{m}x{k}{blocks}_{t}")]
    }
}

/// Finds the form that a mnemonic names, in either spelling.
pub fn find(name: &str) -> Option<&'static Form> {
    let bare = |s: &str| s.strip_suffix("_1k").unwrap_or(s).to_string();
    // CDNA1/2 spelling: exact. CDNA3 spelling: `_1k` optional, and a bf16 name means the four-element form where
    // both exist (its block count tells 32x32x4 apart).
    FORMS
        .iter()
        .find(|f| f.names()[0] == name)
        .or_else(|| FORMS.iter().find(|f| f.names()[1] == bare(name) && (f.one_k || !name.ends_with("_1k"))))
}

pub fn parse(name: &str) -> Result<Instruction, String> {
    let form = find(name).ok_or("not an MFMA of CDNA1, CDNA2 or CDNA3")?;
    let d = form.result();
    Ok(Instruction {
        name: name.into(),
        family: Family::Mfma,
        kind: Kind::Plain,
        m: form.m,
        n: form.m,
        k: form.k,
        blocks: form.blocks,
        a: form.a,
        b: form.b,
        c: d,
        d,
        scaling: None,
        sparsity: None,
        satfinite: false,
    })
}

/// (block, row, column) of accumulator element `v` of a lane.
fn accumulator(f: &Form, lane: usize, v: usize) -> (usize, usize, usize) {
    match (f.m, f.a) {
        (32, _) => (v / 16, 8 * (v % 16 / 4) + 4 * (lane / 32) + v % 4, lane % 32),
        (16, Fp64) => (0, 4 * v + lane / 16, lane % 16),
        (16, _) => (v / 4, 4 * (lane / 16) + v % 4, lane % 16),
        (_, Fp64) => (lane / 4 % 4, lane / 16, lane % 4),
        _ => (lane / 4, v, lane % 4),
    }
}

pub fn layout(i: &Instruction) -> Layout {
    let form = find(&i.name).unwrap_or_else(|| panic!("no MFMA form of {}", i.name));
    let per_lane = i.m * i.k * i.blocks / LANES;
    let bits = i.a.word_bits() as usize;
    let bytes = if bits == 64 { 8 } else { 4 };
    let per = 8 * bytes / bits;
    let count = per_lane.div_ceil(per);
    let elements = i.m * i.n * i.blocks / LANES;
    let d_bytes = i.d.word_bits() as usize / 8;
    let ra = Registers { base: 0, lanes: LANES, count, bytes };
    let rb = Registers { base: ra.end(), ..ra };
    let rc = Registers { base: rb.end(), lanes: LANES, count: elements, bytes: d_bytes };
    let rd = Registers { base: 0, ..rc };
    let mut a = Matrix::new(i.a.bits());
    let mut b = Matrix::new(i.b.bits());
    let mut c = Matrix::new(i.c.bits());
    let mut d = Matrix::new(i.d.bits());
    for lane in 0..LANES {
        let (index, rest) = (lane % i.m, lane / i.m);
        let (block, group) = (rest % i.blocks, rest / i.blocks);
        for e in 0..per_lane {
            let k = group * per_lane + e;
            a.put(block, index, k, ra.bit(e / per, lane) + e % per * bits);
            b.put(block, k, index, rb.bit(e / per, lane) + e % per * bits);
        }
        for v in 0..elements {
            let (block, row, col) = accumulator(form, lane, v);
            c.put(block, row, col, rc.bit(v, lane));
            d.put(block, row, col, rd.bit(v, lane));
        }
    }
    Layout {
        input_bytes: rc.end(),
        output_bytes: rd.end(),
        a,
        b,
        c,
        d,
        scale_a: None,
        scale_b: None,
        sparse: None,
        parts: Parts::Warp { a: ra, b: rb, c: rc, scales: None, d: rd },
    }
}
