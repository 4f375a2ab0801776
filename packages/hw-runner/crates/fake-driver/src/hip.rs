//! The HIP runtime and hiprtc, faked. A kernel is read from its source line by line (loads, one MFMA builtin, stores);
//! fragments are those of AMD's matrix instruction calculator.

use crate::config::{hang, Config};
use crate::numbers::decode;
use crate::product::Product;
use std::alloc::{alloc, dealloc, Layout};
use std::ffi::{c_char, c_int, c_uint, c_void, CStr};
use std::sync::Mutex;

/// A load or store: register, its offset in the image, bytes a lane.
#[derive(Clone)]
struct Move {
    register: usize,
    base: usize,
    bytes: usize,
}

#[derive(Clone)]
struct Program {
    builtin: String,
    a: Vec<Move>,
    b: Vec<Move>,
    c: Vec<Move>,
    out: Vec<Move>,
    input_bytes: usize,
    output_bytes: usize,
}

struct State {
    programs: Vec<(String, Result<Program, String>)>,
    allocations: Vec<(u64, usize)>,
    launches: u64,
    fault: c_int,
}

static STATE: Mutex<State> = Mutex::new(State { programs: Vec::new(), allocations: Vec::new(), launches: 0, fault: 0 });

fn state() -> std::sync::MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(|p| p.into_inner())
}

fn number_after(text: &str, mark: &str) -> Result<usize, String> {
    let rest = text.split_once(mark).ok_or(format!("no '{mark}' in {text}"))?.1;
    rest.chars()
        .take_while(char::is_ascii_digit)
        .collect::<String>()
        .parse()
        .map_err(|_| format!("no number after {mark}"))
}

fn parse(source: &str) -> Result<Program, String> {
    let mut p = Program {
        builtin: String::new(),
        a: Vec::new(),
        b: Vec::new(),
        c: Vec::new(),
        out: Vec::new(),
        input_bytes: number_after(source, "input + block * ")?,
        output_bytes: number_after(source, "output + block * ")?,
    };
    for line in source.lines().map(str::trim) {
        let moved = |pointer: &str| -> Result<Move, String> {
            let bytes = if line.contains("unsigned long*") { 8 } else { 4 };
            if number_after(line, "lane * ")? != bytes {
                return Err(format!("lanes are not {bytes} bytes apart: {line}"));
            }
            Ok(Move {
                register: number_after(line, ".w[")?,
                base: number_after(line, &format!("({pointer} + "))?,
                bytes,
            })
        };
        match line.split_once(".w[").map(|(name, _)| name) {
            Some("a") => p.a.push(moved("in")?),
            Some("b") => p.b.push(moved("in")?),
            Some("c") => p.c.push(moved("in")?),
            Some(store) if store.starts_with('*') => p.out.push(moved("out")?),
            _ => {}
        }
        if let Some(call) = line.strip_prefix("c.v = __builtin_amdgcn_mfma_") {
            let (name, arguments) = call.split_once('(').ok_or("no call")?;
            if arguments != "a.v, b.v, c.v, 0, 0, 0);" {
                return Err(format!("arguments {arguments}"));
            }
            p.builtin = name.into();
        }
    }
    if p.builtin.is_empty() {
        Err("no MFMA builtin".into())
    } else {
        Ok(p)
    }
}

/// `f32_16x16x16f16`, `f32_32x32x8bf16_1k`, `i32_16x16x32_i8`, `f32_16x16x32_fp8_bf8` taken apart.
struct Mfma {
    m: usize,
    k: usize,
    blocks: usize,
    a: &'static str,
    b: &'static str,
    d: &'static str,
}

fn mfma(builtin: &str) -> Result<Mfma, String> {
    let (d, rest) = builtin.split_once('_').ok_or("no result type")?;
    let (m, rest) = rest.split_once('x').ok_or("no shape")?;
    let rest = rest.split_once('x').ok_or("no shape")?.1;
    let digits = rest.chars().take_while(char::is_ascii_digit).count();
    let (k, types) = rest.split_at(digits);
    let (a, b) = match types.trim_start_matches('_').trim_end_matches("_1k") {
        "f32" => ("f32", "f32"),
        "f64" => ("f64", "f64"),
        "f16" => ("f16", "f16"),
        "bf16" => ("bf16", "bf16"),
        "xf32" => ("xf32", "xf32"),
        "i8" => ("s8", "s8"),
        "fp8_fp8" => ("fp8", "fp8"),
        "fp8_bf8" => ("fp8", "bf8"),
        "bf8_fp8" => ("bf8", "fp8"),
        "bf8_bf8" => ("bf8", "bf8"),
        other => return Err(format!("unknown types {other}")),
    };
    let (m, k): (usize, usize) = (m.parse().map_err(|_| "m")?, k.parse().map_err(|_| "k")?);
    // Blocks fill the 64 lanes: elements a lane by type and generation, as the calculator's table of instructions.
    let per_lane = match (types.trim_start_matches('_'), m, k) {
        ("f32" | "f64", ..) => 1,
        ("xf32", ..) => 2,
        ("bf16", ..) => 2,
        ("f16" | "bf16_1k", ..) => 4,
        ("i8", 32, 16) | ("i8", 16, 32) => 8,
        ("i8", ..) => 4,
        _ => 8,
    };
    let d = match d {
        "i32" => "s32",
        "f64" => "f64",
        _ => "f32",
    };
    Ok(Mfma { m, k, blocks: 64 * per_lane / (m * k), a, b, d })
}

fn width(token: &str) -> usize {
    match token {
        "f64" => 64,
        "f32" | "xf32" | "s32" => 32,
        "f16" | "bf16" => 16,
        _ => 8,
    }
}

impl Mfma {
    /// (block, index, k) of element e of a lane: "A i: lane % M; A k: per-lane elements consecutive, then lane groups;
    /// A block: lane groups where there are blocks".
    fn operand(&self, lane: usize, e: usize) -> (usize, usize, usize) {
        let per_lane = self.m * self.k * self.blocks / 64;
        match (self.m, self.blocks) {
            (32, 1) => (0, lane % 32, per_lane * (lane / 32) + e),
            (32, _) => (lane / 32, lane % 32, e),
            (16, 1) => (0, lane % 16, per_lane * (lane / 16) + e),
            (16, _) => (lane / 16, lane % 16, e),
            // Four blocks of fp64: A[i][k] of block b at lane 16k + 4b + i.
            (_, 4) => (lane % 16 / 4, lane % 4, lane / 16),
            _ => (lane / 4, lane % 4, e),
        }
    }

    /// (block, i, j) of accumulator register v.
    fn result(&self, lane: usize, v: usize) -> (usize, usize, usize) {
        match (self.m, self.d) {
            (16, "f64") => (0, lane / 16 + 4 * v, lane % 16),
            (4, "f64") => (lane % 16 / 4, lane / 16, lane % 4),
            (32, _) => (v / 16, (8 * (v / 4)) % 32 + 4 * (lane / 32) + v % 4, lane % 32),
            (16, _) => (v / 4, 4 * (lane / 16) + v % 4, lane % 16),
            _ => (lane / 4, v % 4, lane % 4),
        }
    }
}

/// Runs one case on host memory.
unsafe fn execute(p: &Program, input: *const u8, output: *mut u8) -> Result<(), String> {
    let i = mfma(&p.builtin)?;
    let (m, k) = (i.m, i.k);
    let register = |moves: &[Move], lane: usize, r: usize| -> u64 {
        let Some(m) = moves.iter().find(|m| m.register == r) else { return 0xeeee_eeee_eeee_eeee };
        let at = input.add(m.base + lane * m.bytes);
        if m.bytes == 8 {
            at.cast::<u64>().read_unaligned()
        } else {
            u64::from(at.cast::<u32>().read_unaligned())
        }
    };
    let element = |moves: &[Move], lane: usize, e: usize, bits: usize| -> u64 {
        let per = if bits == 64 { 1 } else { 32 / bits };
        let word = register(moves, lane, e / per) >> (e % per * bits);
        if bits == 64 {
            word
        } else {
            word & ((1 << bits) - 1)
        }
    };
    let per_lane = m * k * i.blocks / 64;
    let results = m * m * i.blocks / 64;
    for block in 0..i.blocks {
        let (mut a, mut b, mut c) = (vec![0.0; m * k], vec![0.0; k * m], vec![0; m * m]);
        for lane in 0..64 {
            for e in 0..per_lane {
                let (of, index, kk) = i.operand(lane, e);
                if of == block {
                    a[index * k + kk] = decode(i.a, element(&p.a, lane, e, width(i.a)));
                    b[kk * m + index] = decode(i.b, element(&p.b, lane, e, width(i.b)));
                }
            }
            for v in 0..results {
                let (of, row, col) = i.result(lane, v);
                if of == block {
                    c[row * m + col] = register(&p.c, lane, v);
                }
            }
        }
        let words = Product { m, n: m, k, a, b, c, c_type: i.d, d_type: i.d, saturate: false }.words();
        for lane in 0..64 {
            for v in 0..results {
                let (of, row, col) = i.result(lane, v);
                let Some(store) = p.out.iter().find(|s| s.register == v) else { continue };
                if of != block {
                    continue;
                }
                let at = output.add(store.base + lane * store.bytes);
                if store.bytes == 8 {
                    at.cast::<u64>().write_unaligned(words[row * m + col]);
                } else {
                    at.cast::<u32>().write_unaligned(words[row * m + col] as u32);
                }
            }
        }
    }
    Ok(())
}

fn layout(bytes: usize) -> Layout {
    Layout::from_size_align(bytes.max(1), 256).expect("layout")
}

const OUT_OF_MEMORY: c_int = 2;
const INVALID_VALUE: c_int = 1;
const NO_DEVICE: c_int = 100;
const LAUNCH_FAILURE: c_int = 719;
const COMPILATION: c_int = 6;

macro_rules! exports {
    ($(fn $name:ident($($arg:ident: $type:ty),*) $body:block)*) => {
        $(
            /// # Safety: as hip_runtime_api.h and hiprtc.h.
            #[no_mangle]
            pub unsafe extern "C" fn $name($($arg: $type),*) -> c_int $body
        )*
    };
}

/// # Safety: as hip_runtime_api.h.
#[no_mangle]
pub unsafe extern "C" fn hipGetErrorString(status: c_int) -> *const c_char {
    match status {
        100 => c"no ROCm-capable device is detected",
        719 => c"unspecified launch failure",
        _ => c"fake HIP error",
    }
    .as_ptr()
}

/// # Safety: as hiprtc.h.
#[no_mangle]
pub unsafe extern "C" fn hiprtcGetErrorString(_status: c_int) -> *const c_char {
    c"HIPRTC_ERROR_COMPILATION".as_ptr()
}

exports! {
    fn hipInit(_flags: c_uint) {
        if Config::get().text("gfx", "").is_empty() || Config::get().number("devices", 1) == 0 { return NO_DEVICE; }
        if Config::get().fault("hang-init", 0) { hang(); }
        0
    }
    fn hipDriverGetVersion(version: *mut c_int) { *version = 60_342_134; 0 }
    fn hipRuntimeGetVersion(version: *mut c_int) { *version = 60_342_134; 0 }
    fn hipGetDeviceCount(count: *mut c_int) { *count = Config::get().number("devices", 1) as c_int; 0 }
    fn hipSetDevice(_device: c_int) { 0 }
    fn hipDeviceGetName(text: *mut c_char, length: c_int, _device: c_int) {
        let name = Config::get().text("gpu", "AMD Instinct MI300X");
        let count = name.len().min(length as usize - 1);
        std::ptr::copy_nonoverlapping(name.as_ptr().cast(), text, count);
        *text.add(count) = 0;
        0
    }
    fn hipGetDevicePropertiesR0600(properties: *mut c_void, _device: c_int) {
        // gcnArchName lies at byte 1160 of the ROCm 6 structure.
        let name = format!("{}:sramecc+:xnack-\0", Config::get().text("gfx", "gfx942"));
        std::ptr::copy_nonoverlapping(name.as_ptr(), properties.cast::<u8>().add(1160), name.len());
        0
    }
    fn hipDeviceSynchronize() {
        let (launch, fault) = { let s = state(); (s.launches.saturating_sub(1), s.fault) };
        if Config::get().fault("hang", launch) { hang(); }
        if fault == 0 && Config::get().fault("sync", launch) { state().fault = LAUNCH_FAILURE; }
        state().fault
    }
    fn hipModuleLoadData(module: *mut *mut c_void, image: *const c_void) {
        let index = image.cast::<u64>().read_unaligned();
        let s = state();
        let arch = Config::get().text("gfx", "gfx942");
        match s.programs.get(index as usize) {
            Some((target, Ok(_))) if target == arch => { *module = (index + 1) as *mut c_void; 0 }
            _ => 209,
        }
    }
    fn hipModuleGetFunction(function: *mut *mut c_void, module: *mut c_void, name: *const c_char) {
        if CStr::from_ptr(name) != c"bitmma" { return 500; }
        *function = module;
        0
    }
    fn hipMalloc(address: *mut *mut c_void, bytes: usize) {
        if Config::get().fault("memory", state().launches) { return OUT_OF_MEMORY; }
        *address = alloc(layout(bytes)).cast();
        state().allocations.push((*address as u64, bytes));
        0
    }
    fn hipFree(address: *mut c_void) {
        let mut s = state();
        let Some(at) = s.allocations.iter().position(|(a, _)| *a == address as u64) else { return INVALID_VALUE };
        let (_, bytes) = s.allocations.remove(at);
        dealloc(address.cast(), layout(bytes));
        0
    }
    fn hipMemcpyHtoD(to: *mut c_void, from: *const c_void, bytes: usize) {
        if state().fault != 0 { return state().fault; }
        std::ptr::copy_nonoverlapping(from.cast::<u8>(), to.cast(), bytes);
        0
    }
    fn hipMemcpyDtoH(to: *mut c_void, from: *mut c_void, bytes: usize) {
        if state().fault != 0 { return state().fault; }
        std::ptr::copy_nonoverlapping(from.cast::<u8>(), to.cast(), bytes);
        0
    }
    fn hipModuleLaunchKernel(function: *mut c_void, x: c_uint, y: c_uint, z: c_uint, tx: c_uint, ty: c_uint, tz: c_uint,
                             _shared: c_uint, _stream: *mut c_void, parameters: *mut *mut c_void, _extra: *mut *mut c_void) {
        let mut s = state();
        if s.fault != 0 { return s.fault; }
        let launch = s.launches;
        s.launches += 1;
        if Config::get().fault("launch", launch) { return LAUNCH_FAILURE; }
        if (y, z, tx, ty, tz) != (1, 1, 64, 1, 1) { return INVALID_VALUE; }
        let Some((_, Ok(program))) = s.programs.get(function as usize - 1).cloned() else { return INVALID_VALUE };
        let (input, output) = (*(*parameters).cast::<u64>(), *(*parameters.add(1)).cast::<u64>());
        let count = *(*parameters.add(2)).cast::<u32>();
        let room = |address: u64, each: usize| s.allocations.iter().any(|(a, size)| *a == address && *size >= each * x as usize);
        if count != x || !room(input, program.input_bytes) || !room(output, program.output_bytes) { return INVALID_VALUE; }
        for block in 0..x as usize {
            let case = (input as *const u8).add(block * program.input_bytes);
            if let Err(why) = execute(&program, case, (output as *mut u8).add(block * program.output_bytes)) {
                eprintln!("fake HIP: {why}");
                s.fault = LAUNCH_FAILURE;
                return 0;
            }
        }
        crate::corrupt(&s.allocations, output, x);
        0
    }
    fn hiprtcCreateProgram(program: *mut *mut c_void, source: *const c_char, _name: *const c_char, _headers: c_int,
                           _texts: *const *const c_char, _names: *const *const c_char) {
        let mut s = state();
        s.programs.push((String::new(), parse(&CStr::from_ptr(source).to_string_lossy())));
        *program = s.programs.len() as *mut c_void;
        0
    }
    fn hiprtcCompileProgram(program: *mut c_void, count: c_int, options: *const *const c_char) {
        let mut s = state();
        let entry = &mut s.programs[program as usize - 1];
        for i in 0..count as usize {
            let option = CStr::from_ptr(*options.add(i)).to_string_lossy().into_owned();
            if let Some(arch) = option.strip_prefix("--offload-arch=") { entry.0 = arch.into(); }
        }
        if Config::get().fault("load", 0) { entry.1 = Err("error: a fault was asked for".into()); }
        if entry.1.is_ok() { 0 } else { COMPILATION }
    }
    fn hiprtcGetProgramLogSize(program: *mut c_void, size: *mut usize) {
        *size = state().programs[program as usize - 1].1.as_ref().err().map_or(1, |e| e.len() + 1);
        0
    }
    fn hiprtcGetProgramLog(program: *mut c_void, log: *mut c_char) {
        if let Err(text) = &state().programs[program as usize - 1].1 {
            std::ptr::copy_nonoverlapping(text.as_ptr(), log.cast(), text.len());
            *log.add(text.len()) = 0;
        }
        0
    }
    fn hiprtcGetCodeSize(_program: *mut c_void, size: *mut usize) { *size = 8; 0 }
    fn hiprtcGetCode(program: *mut c_void, code: *mut c_char) {
        code.cast::<u64>().write_unaligned(program as u64 - 1);
        0
    }
    fn hiprtcDestroyProgram(_program: *mut *mut c_void) { 0 }
}
