//! Fragments of mma.sync and wgmma as the PTX ISA states them: position of element i of a lane.

/// What a mma.sync mnemonic says.
#[derive(Debug, Clone)]
pub struct Mma {
    pub m: usize,
    pub n: usize,
    pub k: usize,
    pub d: String,
    pub a: String,
    pub b: String,
    pub c: String,
    pub scale: Option<String>,
    pub kind: String,
    pub scales: usize,
    pub saturate: bool,
}

const TYPES: [&str; 17] = [
    "f64", "f32", "f16", "bf16", "tf32", "e4m3", "e5m2", "e3m2", "e2m3", "e2m1", "s8", "u8", "s32", "ue8m0", "ue4m3",
    "fp8", "bf8",
];

impl Mma {
    pub fn parse(name: &str) -> Result<Mma, String> {
        let mut types = Vec::new();
        let (mut shape, mut kind, mut scales, mut saturate) = (None, String::new(), 0, false);
        for token in name.split('.') {
            if TYPES.contains(&token) {
                types.push(token.to_string());
            } else if let Some(k) = token.strip_prefix("kind::") {
                kind = k.to_string();
            } else if let Some(v) = token.strip_prefix("scale_vec::") {
                scales = v.trim_end_matches('X').parse().map_err(|_| "scale_vec")?;
            } else if token == "satfinite" {
                saturate = true;
            } else if token.starts_with('m') && token[1..].starts_with(|c: char| c.is_ascii_digit()) {
                let numbers: Vec<usize> = token[1..].split(['n', 'k']).filter_map(|t| t.parse().ok()).collect();
                shape = Some((numbers[0], numbers[1], numbers[2]));
            }
        }
        let (m, n, k) = shape.ok_or("no shape")?;
        if types.len() < 3 {
            return Err("no types".into());
        }
        let c = types.get(3).cloned().filter(|t| !t.starts_with("ue")).unwrap_or_else(|| types[0].clone());
        let scale = types.last().cloned().filter(|t| t.starts_with("ue"));
        Ok(Mma {
            m,
            n,
            k,
            d: types[0].clone(),
            a: types[1].clone(),
            b: types[2].clone(),
            c,
            scale,
            kind,
            scales,
            saturate,
        })
    }

    /// Bits that an element takes in a register, and where in them it begins.
    pub fn container(&self, token: &str) -> (usize, usize) {
        let fp4_packed = self.kind.starts_with("mxf4");
        match token {
            "f64" => (64, 0),
            "f32" | "tf32" | "s32" => (32, 0),
            "f16" | "bf16" => (16, 0),
            // "the four-bit data in the middle of the eight-bit container"
            "e2m1" => {
                if fp4_packed {
                    (4, 0)
                } else {
                    (8, 2)
                }
            }
            _ => (8, 0),
        }
    }
}

pub fn element_bits(token: &str) -> usize {
    match token {
        "f64" => 64,
        "f32" | "tf32" | "s32" => 32,
        "f16" | "bf16" => 16,
        "e3m2" | "e2m3" => 6,
        "e2m1" => 4,
        _ => 8,
    }
}

/// (row, column) of a_i.
pub fn a(mma: &Mma, lane: usize, i: usize) -> (usize, usize) {
    let (group, thread) = (lane >> 2, lane % 4);
    let low_if = |condition: bool| if condition { group } else { group + 8 };
    match (mma.m, mma.k, mma.container(&mma.a).0) {
        // row = groupID; col = threadID_in_group
        (8, 4, 64) => (group, thread),
        (8, 16, 8) => (group, thread * 4 + i),
        (16, 8, 16) => (low_if(i < 2), thread * 2 + (i & 1)),
        (16, 16, 16) => (low_if(i < 2 || (4..6).contains(&i)), thread * 2 + (i & 1) + if i >= 4 { 8 } else { 0 }),
        (16, 4, 32) => (low_if(i == 0), thread),
        (16, 8, 32) => (low_if(i == 0 || i == 2), if i < 2 { thread } else { thread + 4 }),
        (16, 16, 8) => (low_if(i < 4), thread * 4 + (i & 3)),
        (16, 32, 8) => (low_if(i < 4 || (8..12).contains(&i)), thread * 4 + (i & 3) + if i >= 8 { 16 } else { 0 }),
        (16, 64, 4) => (low_if(i < 8 || (16..24).contains(&i)), thread * 8 + (i & 7) + if i >= 16 { 32 } else { 0 }),
        (16, 4, 64) => (low_if(i == 0), thread),
        (16, 8, 64) => (low_if(i == 0 || i == 2), if i < 2 { thread } else { thread + 4 }),
        // col = (i * 2) + thread where i is even, (i * 2) - 2 + thread otherwise
        (16, 16, 64) => {
            (low_if(i.is_multiple_of(2)), if i.is_multiple_of(2) { i * 2 + thread } else { i * 2 - 2 + thread })
        }
        other => panic!("no A fragment {other:?}"),
    }
}

/// (row, column) of b_i: row is the k position.
pub fn b(mma: &Mma, lane: usize, i: usize) -> (usize, usize) {
    let (group, thread) = (lane >> 2, lane % 4);
    let row = match (mma.k, mma.container(&mma.b).0) {
        (4, 64 | 32) => thread,
        (8, 64 | 32) => {
            if i == 0 {
                thread
            } else {
                thread + 4
            }
        }
        (16, 64) => i * 4 + thread,
        (8, 16) => thread * 2 + i,
        (16, 16) => {
            if i < 2 {
                thread * 2 + (i & 1)
            } else {
                thread * 2 + (i & 1) + 8
            }
        }
        (16, 8) => thread * 4 + i,
        (32, 8) => {
            if i < 4 {
                thread * 4 + (i & 3)
            } else {
                thread * 4 + (i & 3) + 16
            }
        }
        (64, 4) => {
            if i < 8 {
                thread * 8 + (i & 7)
            } else {
                thread * 8 + (i & 7) + 32
            }
        }
        other => panic!("no B fragment {other:?}"),
    };
    (row, group)
}

/// (row, column) of c_i or d_i.
pub fn c(mma: &Mma, lane: usize, i: usize) -> (usize, usize) {
    let (group, thread) = (lane >> 2, lane % 4);
    if mma.m == 8 {
        return (group, thread * 2 + i);
    }
    (if i < 2 { group } else { group + 8 }, thread * 2 + (i & 1))
}

/// m8n8k4 with fp16: "MMA computation 1: threads 0-3 and 16-19, 2: 4-7 and 20-23, …" ; row-major A, column-major B.
pub fn volta_quad_pair(lane: usize) -> usize {
    (lane % 16) / 4
}

pub fn volta_a(lane: usize, i: usize) -> (usize, usize) {
    (if lane < 16 { lane % 4 } else { lane % 4 + 4 }, i)
}

pub fn volta_b(lane: usize, i: usize) -> (usize, usize) {
    (i, if lane < 16 { lane % 4 } else { lane % 4 + 4 })
}

pub fn volta_c(token: &str, lane: usize, i: usize) -> (usize, usize) {
    if token == "f16" {
        return (if lane < 16 { lane % 4 } else { lane % 4 + 4 }, i);
    }
    let x = (lane & 0b1) + (i & 0b10);
    (if lane < 16 { x } else { x + 4 }, (i & 0b100) + (lane & 0b10) + (i & 0b1))
}
