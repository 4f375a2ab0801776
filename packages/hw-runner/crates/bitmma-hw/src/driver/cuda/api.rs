//! Symbols of libcuda.so.1, and what they say of devices.

use crate::driver::DeviceInfo;
use crate::error::{Error, Result};
use crate::kernel::Arch;
use std::ffi::{c_char, c_int, c_uint, c_void, CStr};

pub type Status = c_int;
pub type Ptr = u64;

const NO_DEVICE: Status = 100;
const COMPUTE_CAPABILITY_MAJOR: c_int = 75;
const COMPUTE_CAPABILITY_MINOR: c_int = 76;
pub const JIT_ERROR_LOG_BUFFER: c_int = 5;
pub const JIT_ERROR_LOG_BUFFER_SIZE_BYTES: c_int = 6;
pub const JIT_INPUT_PTX: c_int = 1;

pub struct Api {
    pub get_error_name: unsafe extern "C" fn(Status, *mut *const c_char) -> Status,
    pub get_error_string: unsafe extern "C" fn(Status, *mut *const c_char) -> Status,
    pub init: unsafe extern "C" fn(c_uint) -> Status,
    pub driver_get_version: unsafe extern "C" fn(*mut c_int) -> Status,
    pub device_get_count: unsafe extern "C" fn(*mut c_int) -> Status,
    pub device_get: unsafe extern "C" fn(*mut c_int, c_int) -> Status,
    pub device_get_name: unsafe extern "C" fn(*mut c_char, c_int, c_int) -> Status,
    pub device_get_attribute: unsafe extern "C" fn(*mut c_int, c_int, c_int) -> Status,
    pub primary_ctx_retain: unsafe extern "C" fn(*mut *mut c_void, c_int) -> Status,
    pub ctx_set_current: unsafe extern "C" fn(*mut c_void) -> Status,
    pub ctx_synchronize: unsafe extern "C" fn() -> Status,
    pub module_load_data_ex:
        unsafe extern "C" fn(*mut *mut c_void, *const c_void, c_uint, *mut c_int, *mut *mut c_void) -> Status,
    pub module_get_function: unsafe extern "C" fn(*mut *mut c_void, *mut c_void, *const c_char) -> Status,
    pub mem_alloc: unsafe extern "C" fn(*mut Ptr, usize) -> Status,
    pub mem_free: unsafe extern "C" fn(Ptr) -> Status,
    pub memcpy_htod: unsafe extern "C" fn(Ptr, *const c_void, usize) -> Status,
    pub memcpy_dtoh: unsafe extern "C" fn(*mut c_void, Ptr, usize) -> Status,
    #[allow(clippy::type_complexity)]
    pub launch_kernel: unsafe extern "C" fn(
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
    pub link_create: unsafe extern "C" fn(c_uint, *mut c_int, *mut *mut c_void, *mut *mut c_void) -> Status,
    #[allow(clippy::type_complexity)]
    pub link_add_data: unsafe extern "C" fn(
        *mut c_void,
        c_int,
        *const c_void,
        usize,
        *const c_char,
        c_uint,
        *mut c_int,
        *mut *mut c_void,
    ) -> Status,
    pub link_complete: unsafe extern "C" fn(*mut c_void, *mut *const c_void, *mut usize) -> Status,
    pub link_destroy: unsafe extern "C" fn(*mut c_void) -> Status,
    _library: libloading::Library,
}

fn missing(what: impl std::fmt::Display) -> Error {
    Error::unavailable(
        format!("the CUDA driver could not be loaded ({what})"),
        "run on a machine with an NVIDIA GPU and its driver (libcuda.so.1)",
    )
}

impl Api {
    pub fn load() -> Result<Api> {
        let library = crate::driver::library(&["libcuda.so.1", "libcuda.so"]).map_err(missing)?;
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

    pub fn text(&self, status: Status) -> String {
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

    pub fn check(&self, what: &str, status: Status) -> Result<()> {
        if status == 0 {
            Ok(())
        } else {
            Err(Error::Device(format!("{what} failed: {}", self.text(status))))
        }
    }

    pub fn count(&self) -> Result<usize> {
        let mut count = 0;
        // SAFETY: an int to write to.
        self.check("cuDeviceGetCount", unsafe { (self.device_get_count)(&mut count) })?;
        Ok(count as usize)
    }

    pub fn info(&self, index: usize) -> Result<(c_int, DeviceInfo)> {
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

pub fn no_device(reason: &str) -> Error {
    Error::unavailable(reason, "check nvidia-smi and CUDA_VISIBLE_DEVICES")
}
