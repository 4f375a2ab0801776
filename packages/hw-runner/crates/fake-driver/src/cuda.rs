//! The CUDA driver API, faked: one context, host memory for device memory, kernels interpreted at launch.

use crate::config::{hang, Config};
use crate::exec::{Block, Global};
use crate::ptx::{self, Module};
use std::alloc::{alloc, dealloc, Layout};
use std::ffi::{c_char, c_int, c_uint, c_void, CStr};
use std::sync::Mutex;

const INVALID_VALUE: c_int = 1;
const OUT_OF_MEMORY: c_int = 2;
const NOT_INITIALISED: c_int = 3;
const NO_DEVICE: c_int = 100;
const NO_BINARY_FOR_GPU: c_int = 209;
const INVALID_PTX: c_int = 218;
const LAUNCH_FAILED: c_int = 719;

struct State {
    initialised: bool,
    modules: Vec<Module>,
    allocations: Vec<(u64, usize)>,
    launches: u64,
    /// Sticky error of a faulted context.
    fault: c_int,
}

static STATE: Mutex<State> =
    Mutex::new(State { initialised: false, modules: Vec::new(), allocations: Vec::new(), launches: 0, fault: 0 });

fn state() -> std::sync::MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(|p| p.into_inner())
}

fn layout(bytes: usize) -> Layout {
    Layout::from_size_align(bytes.max(1), 256).expect("layout")
}

/// # Safety: as cuda.h.
#[no_mangle]
pub unsafe extern "C" fn cuInit(_flags: c_uint) -> c_int {
    let config = Config::get();
    if config.fault("hang-init", 0) {
        hang();
    }
    if config.fault("init", 0) {
        return NOT_INITIALISED;
    }
    if config.number("devices", 1) == 0 {
        return NO_DEVICE;
    }
    state().initialised = true;
    0
}

macro_rules! exports {
    ($(fn $name:ident($($arg:ident: $type:ty),*) $body:block)*) => {
        $(
            /// # Safety: as cuda.h.
            #[no_mangle]
            pub unsafe extern "C" fn $name($($arg: $type),*) -> c_int $body
        )*
    };
}

exports! {
    fn cuGetErrorName(status: c_int, text: *mut *const c_char) {
        *text = match status {
            0 => c"CUDA_SUCCESS",
            2 => c"CUDA_ERROR_OUT_OF_MEMORY",
            3 => c"CUDA_ERROR_NOT_INITIALIZED",
            100 => c"CUDA_ERROR_NO_DEVICE",
            209 => c"CUDA_ERROR_NO_BINARY_FOR_GPU",
            218 => c"CUDA_ERROR_INVALID_PTX",
            700 => c"CUDA_ERROR_ILLEGAL_ADDRESS",
            715 => c"CUDA_ERROR_ILLEGAL_INSTRUCTION",
            719 => c"CUDA_ERROR_LAUNCH_FAILED",
            _ => c"CUDA_ERROR_UNKNOWN",
        }.as_ptr();
        0
    }
    fn cuGetErrorString(_status: c_int, text: *mut *const c_char) {
        *text = c"fake driver".as_ptr();
        0
    }
    fn cuDriverGetVersion(version: *mut c_int) { *version = 12080; 0 }
    fn cuDeviceGetCount(count: *mut c_int) { *count = Config::get().number("devices", 1) as c_int; 0 }
    fn cuDeviceGet(device: *mut c_int, index: c_int) {
        *device = index;
        if index < Config::get().number("devices", 1) as c_int { 0 } else { INVALID_VALUE }
    }
    fn cuDeviceGetName(text: *mut c_char, length: c_int, _device: c_int) {
        let name = Config::get().text("gpu", "NVIDIA H100 80GB HBM3");
        let count = name.len().min(length as usize - 1);
        std::ptr::copy_nonoverlapping(name.as_ptr().cast(), text, count);
        *text.add(count) = 0;
        0
    }
    fn cuDeviceGetAttribute(value: *mut c_int, attribute: c_int, _device: c_int) {
        let sm = Config::get().number("sm", 90) as c_int;
        *value = match attribute { 75 => sm / 10, 76 => sm % 10, _ => return INVALID_VALUE };
        0
    }
    fn cuDevicePrimaryCtxRetain(context: *mut *mut c_void, _device: c_int) {
        if !state().initialised { return NOT_INITIALISED; }
        *context = std::ptr::dangling_mut::<c_void>();
        0
    }
    fn cuCtxSetCurrent(_context: *mut c_void) { 0 }
    fn cuCtxSynchronize() {
        let (launch, fault) = { let s = state(); (s.launches.saturating_sub(1), s.fault) };
        if Config::get().fault("hang", launch) { hang(); }
        if fault == 0 && Config::get().fault("sync", launch) {
            state().fault = LAUNCH_FAILED;
            return LAUNCH_FAILED;
        }
        fault
    }
    fn cuModuleLoadDataEx(module: *mut *mut c_void, image: *const c_void, count: c_uint, options: *mut c_int, values: *mut *mut c_void) {
        let text = CStr::from_ptr(image.cast()).to_string_lossy().into_owned();
        let refuse = |status: c_int, why: &str| {
            for i in 0..count as usize {
                if *options.add(i) == 5 {
                    let log: *mut u8 = (*values.add(i)).cast();
                    std::ptr::copy_nonoverlapping(why.as_ptr(), log, why.len().min(1000));
                    *log.add(why.len().min(1000)) = 0;
                }
            }
            status
        };
        if Config::get().fault("load", 0) { return refuse(INVALID_PTX, "ptxas: a fault was asked for"); }
        let sm = Config::get().number("sm", 90);
        match ptx::parse(&text) {
            Err(why) => refuse(INVALID_PTX, &why),
            Ok(parsed) => {
                let number: u64 = parsed.target.trim_start_matches("sm_").trim_end_matches('a').parse().unwrap_or(u64::MAX);
                let fits = if parsed.target.ends_with('a') { number == sm } else { number <= sm };
                if !fits { return refuse(NO_BINARY_FOR_GPU, &format!("{} does not run on sm_{sm}", parsed.target)); }
                let mut s = state();
                s.modules.push(parsed);
                *module = s.modules.len() as *mut c_void;
                0
            }
        }
    }
    fn cuModuleGetFunction(function: *mut *mut c_void, module: *mut c_void, name: *const c_char) {
        if CStr::from_ptr(name) != c"bitmma" { return 500; }
        *function = module;
        0
    }
    fn cuMemAlloc_v2(address: *mut u64, bytes: usize) {
        if Config::get().fault("memory", state().launches) { return OUT_OF_MEMORY; }
        *address = alloc(layout(bytes)) as u64;
        state().allocations.push((*address, bytes));
        0
    }
    fn cuMemFree_v2(address: u64) {
        let mut s = state();
        let Some(at) = s.allocations.iter().position(|(a, _)| *a == address) else { return INVALID_VALUE };
        let (_, bytes) = s.allocations.remove(at);
        dealloc(address as *mut u8, layout(bytes));
        0
    }
    fn cuMemcpyHtoD_v2(to: u64, from: *const c_void, bytes: usize) {
        let s = state();
        if s.fault != 0 { return s.fault; }
        if !s.allocations.iter().any(|(a, size)| to == *a && bytes <= *size) { return INVALID_VALUE; }
        std::ptr::copy_nonoverlapping(from.cast::<u8>(), to as *mut u8, bytes);
        0
    }
    fn cuMemcpyDtoH_v2(to: *mut c_void, from: u64, bytes: usize) {
        let s = state();
        if s.fault != 0 { return s.fault; }
        if !s.allocations.iter().any(|(a, size)| from == *a && bytes <= *size) { return INVALID_VALUE; }
        std::ptr::copy_nonoverlapping(from as *const u8, to.cast(), bytes);
        0
    }
    fn cuLaunchKernel(function: *mut c_void, x: c_uint, y: c_uint, z: c_uint, tx: c_uint, ty: c_uint, tz: c_uint,
                      _shared: c_uint, _stream: *mut c_void, parameters: *mut *mut c_void, _extra: *mut *mut c_void) {
        let mut s = state();
        if s.fault != 0 { return s.fault; }
        let launch = s.launches;
        s.launches += 1;
        if Config::get().fault("launch", launch) { return LAUNCH_FAILED; }
        let Some(module) = s.modules.get(function as usize - 1) else { return INVALID_VALUE };
        if (y, z, ty, tz) != (1, 1, 1, 1) || tx != module.threads { return INVALID_VALUE; }
        let words = [*(*parameters).cast::<u64>(), *(*parameters.add(1)).cast::<u64>(), u64::from(*(*parameters.add(2)).cast::<u32>())];
        // `lazy=1`: large launches leave the output as it is, to time everything around the kernel.
        if Config::get().number("lazy", 0) == 1 && x >= 1000 { return 0; }
        let global = Global { allocations: s.allocations.clone() };
        for block in 0..x {
            if let Err((status, why)) = Block::new(module, &global, words, u64::from(block)).run() {
                eprintln!("fake driver: block {block}: {why}");
                s.fault = status;
                return 0;
            }
        }
        crate::corrupt(&global.allocations, words[1], x);
        0
    }
    // The fake linker's machine code is the PTX itself.
    fn cuLinkCreate_v2(_count: c_uint, _options: *mut c_int, _values: *mut *mut c_void, link: *mut *mut c_void) {
        *link = Box::into_raw(Box::<Vec<u8>>::default()).cast();
        0
    }
    fn cuLinkAddData_v2(link: *mut c_void, kind: c_int, data: *const c_void, size: usize, _name: *const c_char,
                        _count: c_uint, _options: *mut c_int, _values: *mut *mut c_void) {
        if kind != 1 { return INVALID_VALUE; }
        (*link.cast::<Vec<u8>>()).extend_from_slice(std::slice::from_raw_parts(data.cast(), size));
        0
    }
    fn cuLinkComplete(link: *mut c_void, image: *mut *const c_void, size: *mut usize) {
        let bytes = &*link.cast::<Vec<u8>>();
        *image = bytes.as_ptr().cast();
        *size = bytes.len();
        0
    }
    fn cuLinkDestroy(link: *mut c_void) { drop(Box::from_raw(link.cast::<Vec<u8>>())); 0 }
}
