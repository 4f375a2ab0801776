//! Runs a parsed kernel, all threads of a block in lockstep.

use crate::fragments::{self, element_bits, Mma};
use crate::numbers::decode;
use crate::product::Product;
use crate::ptx::{Module, Operand};
use crate::tensor::Tensor;

/// CUDA error codes.
pub const ILLEGAL_ADDRESS: i32 = 700;
pub const ILLEGAL_INSTRUCTION: i32 = 715;
pub const LAUNCH_FAILED: i32 = 719;

pub type Fault = (i32, String);

/// Global memory: allocations that loads and stores must stay in.
pub struct Global {
    pub allocations: Vec<(u64, usize)>,
}

impl Global {
    fn check(&self, address: u64, bytes: u64) -> Result<(), Fault> {
        let inside =
            self.allocations.iter().any(|(base, size)| address >= *base && address + bytes <= base + *size as u64);
        if !inside || !address.is_multiple_of(bytes) {
            return Err((ILLEGAL_ADDRESS, format!("access of {bytes} bytes at {address:#x}")));
        }
        Ok(())
    }

    fn load(&self, address: u64, bytes: u64) -> Result<u64, Fault> {
        self.check(address, bytes)?;
        // SAFETY: checked to lie in one of the fake's own allocations, aligned.
        Ok(unsafe {
            if bytes == 8 {
                *(address as *const u64)
            } else {
                u64::from(*(address as *const u32))
            }
        })
    }

    fn store(&self, address: u64, bytes: u64, value: u64) -> Result<(), Fault> {
        self.check(address, bytes)?;
        // SAFETY: as above.
        unsafe {
            if bytes == 8 {
                *(address as *mut u64) = value;
            } else {
                *(address as *mut u32) = value as u32;
            }
        }
        Ok(())
    }
}

pub struct Block<'a> {
    pub module: &'a Module,
    pub global: &'a Global,
    pub registers: Vec<Vec<u64>>,
    pub shared: Vec<u8>,
    pub parameters: [u64; 3],
    pub block: u64,
    pub tensor: Tensor,
}

/// Instructions of one thread.
#[derive(Clone, Copy)]
enum Scalar {
    Move32,
    Move64,
    Add32,
    Add64,
    Or64,
    ShiftLeft,
    ShiftRight,
    MadWide,
    Less,
    GreaterEqual,
    Equal,
    LoadGlobal(u64),
    StoreGlobal(u64),
    LoadShared,
    StoreShared,
}

impl Scalar {
    fn of(name: &str) -> Option<Scalar> {
        Some(match name {
            "mov.u32" | "mov.b32" | "cvt.u64.u32" => Scalar::Move32,
            "ld.param.u32" | "ld.param.u64" => Scalar::Move64,
            "add.u32" => Scalar::Add32,
            "add.u64" => Scalar::Add64,
            "or.b64" => Scalar::Or64,
            "shl.b32" => Scalar::ShiftLeft,
            "shr.u32" => Scalar::ShiftRight,
            "mad.wide.u32" => Scalar::MadWide,
            "setp.lt.u32" => Scalar::Less,
            "setp.ge.u32" => Scalar::GreaterEqual,
            "setp.eq.u32" => Scalar::Equal,
            "ld.global.b32" => Scalar::LoadGlobal(4),
            "ld.global.b64" => Scalar::LoadGlobal(8),
            "st.global.b32" => Scalar::StoreGlobal(4),
            "st.global.b64" => Scalar::StoreGlobal(8),
            "ld.shared.b32" => Scalar::LoadShared,
            "st.shared.b32" => Scalar::StoreShared,
            _ => return None,
        })
    }
}

impl<'a> Block<'a> {
    pub fn new(module: &'a Module, global: &'a Global, parameters: [u64; 3], block: u64) -> Block<'a> {
        Block {
            module,
            global,
            registers: vec![vec![0; module.registers]; module.threads as usize],
            shared: vec![0xee; module.shared_bytes],
            parameters,
            block,
            tensor: Tensor::new(),
        }
    }

    pub fn value(&self, thread: usize, operand: &Operand) -> u64 {
        match operand {
            Operand::Register(r) => self.registers[thread][*r],
            Operand::Immediate(v) | Operand::Address(v) => *v,
            Operand::Special("%tid.x") => thread as u64,
            Operand::Special(_) => self.block,
            Operand::Parameter(p) => self.parameters[*p],
            Operand::Memory(base, offset) => self.value(thread, base).wrapping_add(*offset),
            Operand::Vector(items) => self.value(thread, &items[0]),
            Operand::Label(at) => *at as u64,
        }
    }

    pub fn set(&mut self, thread: usize, operand: &Operand, value: u64) {
        match operand {
            Operand::Register(r) => self.registers[thread][*r] = value,
            other => panic!("not a register: {other:?}"),
        }
    }

    pub fn shared_at(&self, address: u64, bytes: usize) -> Result<usize, Fault> {
        let at = address.wrapping_sub(self.module.shared_base) as usize;
        if at.saturating_add(bytes) > self.shared.len() {
            return Err((ILLEGAL_ADDRESS, format!("shared access at {address:#x}")));
        }
        Ok(at)
    }

    /// Runs to the end of the kernel.
    pub fn run(&mut self) -> Result<(), Fault> {
        let threads = self.registers.len();
        let mut at = 0;
        let mut steps = 0;
        while at < self.module.instructions.len() {
            steps += 1;
            if steps > 1_000_000 {
                crate::config::hang();
            }
            let module = self.module;
            let instruction = &module.instructions[at];
            at += 1;
            let live: Vec<usize> = (0..threads)
                .filter(|t| instruction.guard.is_none_or(|(p, negated)| (self.registers[*t][p] != 0) != negated))
                .collect();
            if live.is_empty() {
                continue;
            }
            let name = instruction.name.as_str();
            let operands = &instruction.operands;
            if name == "ret" {
                return Ok(());
            }
            if name == "bra" {
                if live.len() != threads {
                    return Err((LAUNCH_FAILED, "divergent branch".into()));
                }
                at = self.value(0, &operands[0]) as usize;
                continue;
            }
            if name.starts_with("mma.sync") {
                self.collective(&live, 32)?;
                self.mma_sync(name, operands)?;
            } else if name.starts_with("wgmma.mma_async") {
                self.collective(&live, 128)?;
                self.wgmma(name, operands)?;
            } else if name.starts_with("tcgen05") || name.starts_with("mbarrier") {
                self.tcgen05(name, operands, &live)?;
            } else if name.starts_with("bar.") || name.starts_with("fence.") || name.starts_with("wgmma.") {
                continue;
            } else {
                let op = Scalar::of(name).ok_or((ILLEGAL_INSTRUCTION, format!("unknown instruction {name}")))?;
                for thread in live {
                    self.scalar(op, operands, thread)?;
                }
            }
        }
        Ok(())
    }

    fn collective(&self, live: &[usize], needed: usize) -> Result<(), Fault> {
        if live.len() == needed {
            Ok(())
        } else {
            Err((ILLEGAL_INSTRUCTION, format!("{} of {needed} threads", live.len())))
        }
    }

    fn scalar(&mut self, op: Scalar, o: &[Operand], t: usize) -> Result<(), Fault> {
        let v = |i: usize| self.value(t, &o[i]);
        let result = match op {
            Scalar::Move32 => v(1) & 0xffff_ffff,
            Scalar::Move64 => v(1),
            Scalar::Add32 => v(1).wrapping_add(v(2)) & 0xffff_ffff,
            Scalar::Add64 => v(1).wrapping_add(v(2)),
            Scalar::Or64 => v(1) | v(2),
            Scalar::ShiftLeft => (v(1) << v(2)) & 0xffff_ffff,
            Scalar::ShiftRight => (v(1) & 0xffff_ffff) >> v(2),
            Scalar::MadWide => (v(1) & 0xffff_ffff).wrapping_mul(v(2) & 0xffff_ffff).wrapping_add(v(3)),
            Scalar::Less => u64::from((v(1) as u32) < v(2) as u32),
            Scalar::GreaterEqual => u64::from((v(1) as u32) >= v(2) as u32),
            Scalar::Equal => u64::from(v(1) as u32 == v(2) as u32),
            Scalar::LoadGlobal(bytes) => self.global.load(v(1), bytes)?,
            Scalar::StoreGlobal(bytes) => return self.global.store(v(0), bytes, v(1)),
            Scalar::LoadShared => {
                let at = self.shared_at(v(1), 4)?;
                u64::from(u32::from_le_bytes(self.shared[at..at + 4].try_into().expect("4 bytes")))
            }
            Scalar::StoreShared => {
                let (at, word) = (self.shared_at(v(0), 4)?, v(1) as u32);
                self.shared[at..at + 4].copy_from_slice(&word.to_le_bytes());
                return Ok(());
            }
        };
        self.set(t, &o[0], result);
        Ok(())
    }

    /// Element i of a lane's vector operand: elements of `container` bits packed in registers of 32 (or 64) bits.
    pub fn element(
        &self,
        lane: usize,
        operand: &Operand,
        i: usize,
        container: usize,
        first: usize,
        bits: usize,
    ) -> u64 {
        let width = if container == 64 { 64 } else { 32 };
        let Operand::Vector(items) = operand else { panic!("not a vector") };
        let per = width / container;
        let register = self.value(lane, &items[i / per]);
        let word = register >> (i % per * container + first);
        if bits == 64 {
            word
        } else {
            word & ((1 << bits) - 1)
        }
    }

    pub fn set_element(&mut self, lane: usize, operand: &Operand, i: usize, container: usize, word: u64) {
        let width = if container == 64 { 64 } else { 32 };
        let Operand::Vector(items) = operand else { panic!("not a vector") };
        let per = width / container;
        let target = items[i / per].clone();
        let shift = i % per * container;
        let mask = if container == 64 { u64::MAX } else { ((1u64 << container) - 1) << shift };
        let old = self.value(lane, &target);
        self.set(lane, &target, (old & !mask) | (word << shift & mask));
    }

    fn mma_sync(&mut self, name: &str, o: &[Operand]) -> Result<(), Fault> {
        let mma = Mma::parse(name).map_err(|e| (ILLEGAL_INSTRUCTION, e))?;
        let (d, a, b, c) = (&o[0], &o[1], &o[2], &o[3]);
        if mma.m == 8 && mma.a == "f16" {
            return self.volta(&mma, o);
        }
        let (m, n, k) = (mma.m, mma.n, mma.k);
        let mut am = vec![f64::NAN; m * k];
        let mut bm = vec![f64::NAN; k * n];
        let mut cm = vec![0; m * n];
        let (ca, fa) = mma.container(&mma.a);
        let (cb, fb) = mma.container(&mma.b);
        let (cc, cd) = (mma.container(&mma.c).0, mma.container(&mma.d).0);
        for lane in 0..32 {
            for i in 0..m * k / 32 {
                let (row, col) = fragments::a(&mma, lane, i);
                am[row * k + col] = decode(&mma.a, self.element(lane, a, i, ca, fa, element_bits(&mma.a)));
            }
            for i in 0..k * n / 32 {
                let (row, col) = fragments::b(&mma, lane, i);
                bm[row * n + col] = decode(&mma.b, self.element(lane, b, i, cb, fb, element_bits(&mma.b)));
            }
            for i in 0..m * n / 32 {
                let (row, col) = fragments::c(&mma, lane, i);
                cm[row * n + col] = self.element(lane, c, i, cc, 0, cc);
            }
        }
        if let Some(stype) = &mma.scale {
            self.apply_scales(&mma, stype, o, &mut am, &mut bm);
        }
        let words =
            Product { m, n, k, a: am, b: bm, c: cm, c_type: &mma.c, d_type: &mma.d, saturate: mma.saturate }.words();
        for lane in 0..32 {
            for i in 0..m * n / 32 {
                let (row, col) = fragments::c(&mma, lane, i);
                self.set_element(lane, d, i, cd, words[row * n + col]);
            }
        }
        Ok(())
    }

    /// "thread-id-a selects two threads of a quad (0: threads 0 and 1), the first giving the scale of row groupID and
    /// the second that of groupID + 8; thread-id-b one, for column groupID"; byte-id the first byte.
    fn apply_scales(&self, mma: &Mma, stype: &str, o: &[Operand], a: &mut [f64], b: &mut [f64]) {
        let (Operand::Vector(pair_a), Operand::Vector(pair_b)) = (&o[5], &o[7]) else { panic!("no selectors") };
        let selector = |v: &[Operand], i: usize| self.value(0, &v[i]) as usize;
        let (byte_a, thread_a) = (selector(pair_a, 0), selector(pair_a, 1));
        let (byte_b, thread_b) = (selector(pair_b, 0), selector(pair_b, 1));
        let block = mma.k / mma.scales;
        for group in 0..8 {
            for half in 0..2 {
                let word = self.element(4 * group + 2 * thread_a + half, &o[4], 0, 32, 0, 32);
                for k in 0..mma.k {
                    a[(group + 8 * half) * mma.k + k] *= decode(stype, word >> (8 * (byte_a + k / block)) & 0xff);
                }
            }
            let word = self.element(4 * group + thread_b, &o[6], 0, 32, 0, 32);
            for k in 0..mma.k {
                b[k * mma.n + group] *= decode(stype, word >> (8 * (byte_b + k / block)) & 0xff);
            }
        }
    }

    fn volta(&mut self, mma: &Mma, o: &[Operand]) -> Result<(), Fault> {
        let width = |token: &str| if token == "f16" { 16 } else { 32 };
        for pair in 0..4 {
            let lanes: Vec<usize> = (0..32).filter(|l| fragments::volta_quad_pair(*l) == pair).collect();
            let (mut a, mut b, mut c) = (vec![f64::NAN; 32], vec![f64::NAN; 32], vec![0; 64]);
            for &lane in &lanes {
                for i in 0..4 {
                    let (row, col) = fragments::volta_a(lane, i);
                    a[row * 4 + col] = decode("f16", self.element(lane, &o[1], i, 16, 0, 16));
                    let (row, col) = fragments::volta_b(lane, i);
                    b[row * 8 + col] = decode("f16", self.element(lane, &o[2], i, 16, 0, 16));
                }
                for i in 0..8 {
                    let (row, col) = fragments::volta_c(&mma.c, lane, i);
                    c[row * 8 + col] = self.element(lane, &o[3], i, width(&mma.c), 0, width(&mma.c));
                }
            }
            let words = Product { m: 8, n: 8, k: 4, a, b, c, c_type: &mma.c, d_type: &mma.d, saturate: false }.words();
            for &lane in &lanes {
                for i in 0..8 {
                    let (row, col) = fragments::volta_c(&mma.d, lane, i);
                    self.set_element(lane, &o[0], i, width(&mma.d), words[row * 8 + col]);
                }
            }
        }
        Ok(())
    }
}
