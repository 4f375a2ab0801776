//! The CUDA driver API, by hand: libcuda.so.1 is loaded at run time.

use super::{disassemble, Device, DeviceInfo};
use crate::error::{Error, Result};
use crate::kernel::{Arch, Kernel, ENTRY};
use std::ffi::{c_char, c_int, c_uint, c_void, CStr, CString};

type Status = c_int;
type Ptr = u64;

const NO_DEVICE: Status = 100;
const COMPUTE_CAPABILITY_MAJOR: c_int = 75;
const COMPUTE_CAPABILITY_MINOR: c_int = 76;
const JIT_ERROR_LOG_BUFFER: c_int = 5;
const JIT_ERROR_LOG_BUFFER_SIZE_BYTES: c_int = 6;
const JIT_INPUT_PTX: c_int = 1;

struct Api {
    get_error_name: unsafe extern "C" fn(Status, *mut *const c_char) -> Status,
    get_error_string: unsafe extern "C" fn(Status, *mut *const c_char) -> Status,
    init: unsafe extern "C" fn(c_uint) -> Status,
    driver_get_version: unsafe extern "C" fn(*mut c_int) -> Status,
    device_get_count: unsafe extern "C" fn(*mut c_int) -> Status,
    device_get: unsafe extern "C" fn(*mut c_int, c_int) -> Status,
    device_get_name: unsafe extern "C" fn(*mut c_char, c_int, c_int) -> Status,
    device_get_attribute: unsafe extern "C" fn(*mut c_int, c_int, c_int) -> Status,
    primary_ctx_retain: unsafe extern "C" fn(*mut *mut c_void, c_int) -> Status,
    ctx_set_current: unsafe extern "C" fn(*mut c_void) -> Status,
    ctx_synchronize: unsafe extern "C" fn() -> Status,
    module_load_data_ex:
        unsafe extern "C" fn(*mut *mut c_void, *const c_void, c_uint, *mut c_int, *mut *mut c_void) -> Status,
    module_get_function: unsafe extern "C" fn(*mut *mut c_void, *mut c_void, *const c_char) -> Status,
    mem_alloc: unsafe extern "C" fn(*mut Ptr, usize) -> Status,
    mem_free: unsafe extern "C" fn(Ptr) -> Status,
    memcpy_htod: unsafe extern "C" fn(Ptr, *const c_void, usize) -> Status,
    memcpy_dtoh: unsafe extern "C" fn(*mut c_void, Ptr, usize) -> Status,
    #[allow(clippy::type_complexity)]
    launch_kernel: unsafe extern "C" fn(
        *mut c_void,
        c_uint,
        c_uint,
        c_uint,
        c_uint,
        c_uint,
        c_uint,
        c_uint,
        *mut c_void,
        *mut *mut c_void,
        *mut *mut c_void,
    ) -> Status,
    link_create: unsafe extern "C" fn(c_uint, *mut c_int, *mut *mut c_void, *mut *mut c_void) -> Status,
    #[allow(clippy::type_complexity)]
    link_add_data: unsafe extern "C" fn(
        *mut c_void,
        c_int,
        *const c_void,
        usize,
        *const c_char,
        c_uint,
        *mut c_int,
        *mut *mut c_void,
    ) -> Status,
    link_complete: unsafe extern "C" fn(*mut c_void, *mut *const c_void, *mut usize) -> Status,
    link_destroy: unsafe extern "C" fn(*mut c_void) -> Status,
    _library: libloading::Library,
}

fn missing(what: impl std::fmt::Display) -> Error {
    Error::unavailable(
        format!("the CUDA driver could not be loaded ({what})"),
        "run on a machine with an NVIDIA GPU and its driver (libcuda.so.1)",
    )
}

impl Api {
    fn load() -> Result<Api> {
        let library = super::library(&["libcuda.so.1", "libcuda.so"]).map_err(missing)?;
        macro_rules! symbol {
            ($name:literal) => {
                // SAFETY: the signatures are those of cuda.h for these names and versions.
                *unsafe { library.get(concat!($name, "\0").as_bytes()) }.map_err(missing)?
            };
        }
        let api = Api {
            get_error_name: symbol!("cuGetErrorName"),
            get_error_string: symbol!("cuGetErrorString"),
            init: symbol!("cuInit"),
            driver_get_version: symbol!("cuDriverGetVersion"),
            device_get_count: symbol!("cuDeviceGetCount"),
            device_get: symbol!("cuDeviceGet"),
            device_get_name: symbol!("cuDeviceGetName"),
            device_get_attribute: symbol!("cuDeviceGetAttribute"),
            primary_ctx_retain: symbol!("cuDevicePrimaryCtxRetain"),
            ctx_set_current: symbol!("cuCtxSetCurrent"),
            ctx_synchronize: symbol!("cuCtxSynchronize"),
            module_load_data_ex: symbol!("cuModuleLoadDataEx"),
            module_get_function: symbol!("cuModuleGetFunction"),
            mem_alloc: symbol!("cuMemAlloc_v2"),
            mem_free: symbol!("cuMemFree_v2"),
            memcpy_htod: symbol!("cuMemcpyHtoD_v2"),
            memcpy_dtoh: symbol!("cuMemcpyDtoH_v2"),
            launch_kernel: symbol!("cuLaunchKernel"),
            link_create: symbol!("cuLinkCreate_v2"),
            link_add_data: symbol!("cuLinkAddData_v2"),
            link_complete: symbol!("cuLinkComplete"),
            link_destroy: symbol!("cuLinkDestroy"),
            _library: library,
        };
        // SAFETY: cuInit takes flags 0.
        match unsafe { (api.init)(0) } {
            0 => Ok(api),
            NO_DEVICE => Err(no_device("the CUDA driver sees no device")),
            status => Err(no_device(&format!("cuInit failed: {}", api.text(status)))),
        }
    }

    fn text(&self, status: Status) -> String {
        let get = |f: unsafe extern "C" fn(Status, *mut *const c_char) -> Status| {
            let mut text = std::ptr::null();
            // SAFETY: the driver stores a pointer to a static string, or leaves null.
            unsafe {
                f(status, &mut text);
                if text.is_null() {
                    String::new()
                } else {
                    CStr::from_ptr(text).to_string_lossy().into_owned()
                }
            }
        };
        format!("{} ({}, {})", status, get(self.get_error_name), get(self.get_error_string))
    }

    fn check(&self, what: &str, status: Status) -> Result<()> {
        if status == 0 {
            Ok(())
        } else {
            Err(Error::Device(format!("{what} failed: {}", self.text(status))))
        }
    }

    fn count(&self) -> Result<usize> {
        let mut count = 0;
        // SAFETY: an int to write to.
        self.check("cuDeviceGetCount", unsafe { (self.device_get_count)(&mut count) })?;
        Ok(count as usize)
    }

    fn info(&self, index: usize) -> Result<(c_int, DeviceInfo)> {
        let mut device = 0;
        let mut name = [0 as c_char; 256];
        let (mut major, mut minor, mut version) = (0, 0, 0);
        // SAFETY: buffers of the stated sizes.
        unsafe {
            self.check("cuDeviceGet", (self.device_get)(&mut device, index as c_int))?;
            self.check("cuDeviceGetName", (self.device_get_name)(name.as_mut_ptr(), 255, device))?;
            let attribute = self.device_get_attribute;
            self.check("cuDeviceGetAttribute", attribute(&mut major, COMPUTE_CAPABILITY_MAJOR, device))?;
            self.check("cuDeviceGetAttribute", attribute(&mut minor, COMPUTE_CAPABILITY_MINOR, device))?;
            self.check("cuDriverGetVersion", (self.driver_get_version)(&mut version))?;
        }
        // SAFETY: the driver ends the name with NUL within the buffer.
        let name = unsafe { CStr::from_ptr(name.as_ptr()) }.to_string_lossy().into_owned();
        let toolkit = format!("CUDA {}.{}", version / 1000, version % 1000 / 10);
        Ok((
            device,
            DeviceInfo {
                api: "cuda",
                index,
                name,
                arch: Arch::Sm((10 * major + minor) as u32),
                driver: kernel_module_version().unwrap_or_else(|| toolkit.clone()),
                toolkit,
            },
        ))
    }
}

/// The kernel module's version (`570.86.15`), which the driver API does not tell.
fn kernel_module_version() -> Option<String> {
    let text = std::fs::read_to_string("/proc/driver/nvidia/version").ok()?;
    text.split_whitespace()
        .find(|w| w.contains('.') && w.chars().all(|c| c.is_ascii_digit() || c == '.'))
        .map(str::to_string)
}

fn no_device(reason: &str) -> Error {
    Error::unavailable(reason, "check nvidia-smi and CUDA_VISIBLE_DEVICES")
}

pub fn devices() -> Result<Vec<DeviceInfo>> {
    let api = Api::load()?;
    (0..api.count()?).map(|i| Ok(api.info(i)?.1)).collect()
}

pub struct Cuda {
    api: Api,
    info: DeviceInfo,
    functions: Vec<(*mut c_void, u32)>,
    /// Device buffers (address, size), grown as needed.
    input: (Ptr, usize),
    output: (Ptr, usize),
}

impl Cuda {
    pub fn open(index: usize) -> Result<Cuda> {
        let api = Api::load()?;
        let count = api.count()?;
        if index >= count {
            return Err(no_device(&format!("there is no CUDA device {index}, the driver sees {count}")));
        }
        let (device, info) = api.info(index)?;
        let mut context = std::ptr::null_mut();
        // SAFETY: the primary context of an existing device, made current in this thread.
        unsafe {
            api.check("cuDevicePrimaryCtxRetain", (api.primary_ctx_retain)(&mut context, device))?;
            api.check("cuCtxSetCurrent", (api.ctx_set_current)(context))?;
        }
        Ok(Cuda { api, info, functions: Vec::new(), input: (0, 0), output: (0, 0) })
    }

    fn reserve(&self, buffer: (Ptr, usize), bytes: usize) -> Result<(Ptr, usize)> {
        if bytes <= buffer.1 {
            return Ok(buffer);
        }
        let mut address = 0;
        // SAFETY: frees only what this object allocated.
        unsafe {
            if buffer.1 > 0 {
                self.api.check("cuMemFree", (self.api.mem_free)(buffer.0))?;
            }
            self.api.check(&format!("cuMemAlloc of {bytes} bytes"), (self.api.mem_alloc)(&mut address, bytes))?;
        }
        Ok((address, bytes))
    }

    /// The machine code that the driver's compiler makes of the PTX.
    fn cubin(&self, source: &CStr) -> Option<Vec<u8>> {
        let api = &self.api;
        let mut state = std::ptr::null_mut();
        let (mut image, mut size) = (std::ptr::null(), 0usize);
        // SAFETY: the image lives until cuLinkDestroy; it is copied before.
        unsafe {
            if (api.link_create)(0, std::ptr::null_mut(), std::ptr::null_mut(), &mut state) != 0 {
                return None;
            }
            let bytes = source.to_bytes_with_nul();
            let added = (api.link_add_data)(
                state,
                JIT_INPUT_PTX,
                bytes.as_ptr().cast(),
                bytes.len(),
                c"bitmma.ptx".as_ptr(),
                0,
                std::ptr::null_mut(),
                std::ptr::null_mut(),
            );
            let done = added == 0 && (api.link_complete)(state, &mut image, &mut size) == 0 && !image.is_null();
            let copy = done.then(|| std::slice::from_raw_parts(image.cast::<u8>(), size).to_vec());
            (api.link_destroy)(state);
            copy
        }
    }
}

/// Device memory; freed with Cuda::free.
pub struct Buffer(Ptr);

impl Buffer {
    pub fn address(&self) -> u64 {
        self.0
    }
}

/// Memory for calls of other libraries on the same context.
impl Cuda {
    pub fn allocate(&self, bytes: usize) -> Result<Buffer> {
        let mut address = 0;
        // SAFETY: stores an address.
        let status = unsafe { (self.api.mem_alloc)(&mut address, bytes.max(1)) };
        self.api.check(&format!("cuMemAlloc of {bytes} bytes"), status)?;
        Ok(Buffer(address))
    }

    pub fn upload(&self, bytes: &[u8]) -> Result<Buffer> {
        let buffer = self.allocate(bytes.len())?;
        // SAFETY: the buffer is as long as the bytes.
        let status = unsafe { (self.api.memcpy_htod)(buffer.0, bytes.as_ptr().cast(), bytes.len()) };
        self.api.check("copying to the device", status)?;
        Ok(buffer)
    }

    pub fn download(&self, buffer: &Buffer, bytes: usize) -> Result<Vec<u8>> {
        let mut out = vec![0u8; bytes];
        // SAFETY: at most the buffer's length.
        let status = unsafe { (self.api.memcpy_dtoh)(out.as_mut_ptr().cast(), buffer.0, bytes) };
        self.api.check("copying from the device", status)?;
        Ok(out)
    }

    pub fn free(&self, buffer: Buffer) -> Result<()> {
        // SAFETY: allocated above, freed once.
        self.api.check("cuMemFree", unsafe { (self.api.mem_free)(buffer.0) })
    }

    pub fn synchronize(&self, what: &str) -> Result<()> {
        // SAFETY: no arguments.
        self.api.check(what, unsafe { (self.api.ctx_synchronize)() })
    }
}

impl Device for Cuda {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn compile(&mut self, kernel: &Kernel) -> Result<(usize, Option<String>)> {
        let source = CString::new(kernel.source.as_str()).map_err(|e| Error::Device(e.to_string()))?;
        let mut log = vec![0u8; 8192];
        let mut options = [JIT_ERROR_LOG_BUFFER, JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
        let mut values = [log.as_mut_ptr().cast::<c_void>(), log.len() as *mut c_void];
        let (mut module, mut function) = (std::ptr::null_mut(), std::ptr::null_mut());
        let entry = CString::new(ENTRY).map_err(|e| Error::Device(e.to_string()))?;
        // SAFETY: NUL-terminated PTX; the option arrays match their count.
        unsafe {
            let status = (self.api.module_load_data_ex)(
                &mut module,
                source.as_ptr().cast(),
                options.len() as c_uint,
                options.as_mut_ptr(),
                values.as_mut_ptr(),
            );
            if status != 0 {
                let end = log.iter().position(|b| *b == 0).unwrap_or(log.len());
                let log = String::from_utf8_lossy(&log[..end]).trim().replace('\n', " | ");
                return Err(Error::Device(format!(
                    "the driver could not compile the kernel for {}: {} {log}",
                    kernel.target,
                    self.api.text(status)
                )));
            }
            self.api
                .check("cuModuleGetFunction", (self.api.module_get_function)(&mut function, module, entry.as_ptr()))?;
        }
        self.functions.push((function, kernel.threads));
        let opcode = disassemble::available_for_sass()
            .then(|| self.cubin(&source))
            .flatten()
            .and_then(|cubin| disassemble::sass_opcode(&cubin));
        Ok((self.functions.len() - 1, opcode))
    }

    fn run(&mut self, program: usize, input: &[u8], output: &mut [u8], count: u32) -> Result<()> {
        self.input = self.reserve(self.input, input.len())?;
        self.output = self.reserve(self.output, output.len())?;
        let (function, threads) = self.functions[program];
        let api = &self.api;
        let (mut in_address, mut out_address, mut cases) = (self.input.0, self.output.0, count);
        let mut parameters: [*mut c_void; 3] =
            [(&raw mut in_address).cast(), (&raw mut out_address).cast(), (&raw mut cases).cast()];
        // SAFETY: device buffers hold `count` images each way; parameters outlive the launch call.
        unsafe {
            api.check("copying to the device", (api.memcpy_htod)(self.input.0, input.as_ptr().cast(), input.len()))?;
            let status = (api.launch_kernel)(
                function,
                count,
                1,
                1,
                threads,
                1,
                1,
                0,
                std::ptr::null_mut(),
                parameters.as_mut_ptr(),
                std::ptr::null_mut(),
            );
            api.check("the kernel launch", status)?;
            api.check("the kernel", (api.ctx_synchronize)())?;
            api.check(
                "copying from the device",
                (api.memcpy_dtoh)(output.as_mut_ptr().cast(), self.output.0, output.len()),
            )
        }
    }
}
