//! The HIP runtime and its compiler, by hand: libamdhip64 and libhiprtc are loaded at run time.

use super::{disassemble, Device, DeviceInfo};
use crate::error::{Error, Result};
use crate::kernel::{Arch, Kernel, ENTRY};
use std::ffi::{c_char, c_int, c_uint, c_void, CStr, CString};

type Status = c_int;

/// Room for hipDeviceProp_t of any release.
const PROPERTIES_BYTES: usize = 8192;

struct Api {
    get_error_string: unsafe extern "C" fn(Status) -> *const c_char,
    init: unsafe extern "C" fn(c_uint) -> Status,
    driver_get_version: unsafe extern "C" fn(*mut c_int) -> Status,
    runtime_get_version: unsafe extern "C" fn(*mut c_int) -> Status,
    get_device_count: unsafe extern "C" fn(*mut c_int) -> Status,
    set_device: unsafe extern "C" fn(c_int) -> Status,
    device_get_name: unsafe extern "C" fn(*mut c_char, c_int, c_int) -> Status,
    get_device_properties: unsafe extern "C" fn(*mut c_void, c_int) -> Status,
    device_synchronize: unsafe extern "C" fn() -> Status,
    module_load_data: unsafe extern "C" fn(*mut *mut c_void, *const c_void) -> Status,
    module_get_function: unsafe extern "C" fn(*mut *mut c_void, *mut c_void, *const c_char) -> Status,
    malloc: unsafe extern "C" fn(*mut *mut c_void, usize) -> Status,
    free: unsafe extern "C" fn(*mut c_void) -> Status,
    memcpy_htod: unsafe extern "C" fn(*mut c_void, *const c_void, usize) -> Status,
    memcpy_dtoh: unsafe extern "C" fn(*mut c_void, *mut c_void, usize) -> Status,
    #[allow(clippy::type_complexity)]
    module_launch_kernel: unsafe extern "C" fn(
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
    _library: libloading::Library,
}

struct Compiler {
    get_error_string: unsafe extern "C" fn(Status) -> *const c_char,
    create_program: unsafe extern "C" fn(
        *mut *mut c_void,
        *const c_char,
        *const c_char,
        c_int,
        *const *const c_char,
        *const *const c_char,
    ) -> Status,
    compile_program: unsafe extern "C" fn(*mut c_void, c_int, *const *const c_char) -> Status,
    get_program_log_size: unsafe extern "C" fn(*mut c_void, *mut usize) -> Status,
    get_program_log: unsafe extern "C" fn(*mut c_void, *mut c_char) -> Status,
    get_code_size: unsafe extern "C" fn(*mut c_void, *mut usize) -> Status,
    get_code: unsafe extern "C" fn(*mut c_void, *mut c_char) -> Status,
    destroy_program: unsafe extern "C" fn(*mut *mut c_void) -> Status,
    _library: libloading::Library,
}

fn missing(library: &str, what: impl std::fmt::Display) -> Error {
    Error::unavailable(
        format!("{library} could not be loaded ({what})"),
        "run on a machine with an AMD Instinct GPU and ROCm (libamdhip64, libhiprtc)",
    )
}

fn no_device(reason: impl Into<String>) -> Error {
    Error::unavailable(reason, "check rocminfo and HIP_VISIBLE_DEVICES")
}

macro_rules! symbols {
    ($library:ident, $title:literal, $type:ident { $($field:ident: $name:literal $(or $other:literal)?),* $(,)? }) => {
        $type {
            // SAFETY: the signatures are those of hip_runtime_api.h and hiprtc.h for these names.
            $($field: *unsafe { $library.get(concat!($name, "\0").as_bytes()) }
                $(.or_else(|_| unsafe { $library.get(concat!($other, "\0").as_bytes()) }))?
                .map_err(|e| missing($title, e))?,)*
            _library: $library,
        }
    };
}

impl Api {
    fn load() -> Result<Api> {
        let library = super::library(&["libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"])
            .map_err(|e| missing("libamdhip64", e))?;
        let api = symbols!(library, "libamdhip64", Api {
            get_error_string: "hipGetErrorString",
            init: "hipInit",
            driver_get_version: "hipDriverGetVersion",
            runtime_get_version: "hipRuntimeGetVersion",
            get_device_count: "hipGetDeviceCount",
            set_device: "hipSetDevice",
            device_get_name: "hipDeviceGetName",
            get_device_properties: "hipGetDevicePropertiesR0600" or "hipGetDeviceProperties",
            device_synchronize: "hipDeviceSynchronize",
            module_load_data: "hipModuleLoadData",
            module_get_function: "hipModuleGetFunction",
            malloc: "hipMalloc",
            free: "hipFree",
            memcpy_htod: "hipMemcpyHtoD",
            memcpy_dtoh: "hipMemcpyDtoH",
            module_launch_kernel: "hipModuleLaunchKernel",
        });
        // SAFETY: hipInit takes flags 0.
        match unsafe { (api.init)(0) } {
            0 => Ok(api),
            status => Err(no_device(format!("hipInit failed: {}", api.text(status)))),
        }
    }

    fn text(&self, status: Status) -> String {
        // SAFETY: a static string of the library.
        let text = unsafe { CStr::from_ptr((self.get_error_string)(status)) };
        format!("{status} ({})", text.to_string_lossy())
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
        match unsafe { (self.get_device_count)(&mut count) } {
            0 => Ok(count as usize),
            status => Err(no_device(format!("hipGetDeviceCount failed: {}", self.text(status)))),
        }
    }

    fn info(&self, index: usize) -> Result<DeviceInfo> {
        let mut name = [0 as c_char; 256];
        let mut properties = vec![0u8; PROPERTIES_BYTES];
        let (mut driver, mut runtime) = (0, 0);
        // SAFETY: buffers of the stated sizes; hipDeviceProp_t is under 2 KiB in every release.
        unsafe {
            self.check("hipDeviceGetName", (self.device_get_name)(name.as_mut_ptr(), 255, index as c_int))?;
            self.check(
                "hipGetDeviceProperties",
                (self.get_device_properties)(properties.as_mut_ptr().cast(), index as c_int),
            )?;
            self.check("hipDriverGetVersion", (self.driver_get_version)(&mut driver))?;
            self.check("hipRuntimeGetVersion", (self.runtime_get_version)(&mut runtime))?;
        }
        // SAFETY: NUL-terminated within the buffer.
        let name = unsafe { CStr::from_ptr(name.as_ptr()) }.to_string_lossy().into_owned();
        let gfx = gfx_name(&properties)
            .ok_or_else(|| no_device(format!("device {index} ({name}) does not say its gfx architecture")))?;
        let version = |v: c_int| format!("{}.{}.{}", v / 10_000_000, v / 100_000 % 100, v % 100_000);
        Ok(DeviceInfo {
            api: "hip",
            index,
            name,
            arch: Arch::Gfx(gfx),
            driver: version(driver),
            toolkit: format!("HIP {}", version(runtime)),
        })
    }
}

/// The architecture name in a hipDeviceProp_t, whose layout changes with the release: the string that begins with
/// `gfx`, without feature suffixes (`gfx90a:sramecc+:xnack-`).
fn gfx_name(properties: &[u8]) -> Option<String> {
    let at = properties.windows(4).position(|w| w.starts_with(b"gfx") && w[3].is_ascii_digit())?;
    let rest = &properties[at..];
    let end = rest.iter().position(|b| !b.is_ascii_alphanumeric())?;
    String::from_utf8(rest[..end].to_vec()).ok()
}

impl Compiler {
    fn load() -> Result<Compiler> {
        let library = super::library(&["libhiprtc.so", "libhiprtc.so.7", "libhiprtc.so.6", "libhiprtc.so.5"])
            .map_err(|e| missing("libhiprtc", e))?;
        Ok(symbols!(
            library,
            "libhiprtc",
            Compiler {
                get_error_string: "hiprtcGetErrorString",
                create_program: "hiprtcCreateProgram",
                compile_program: "hiprtcCompileProgram",
                get_program_log_size: "hiprtcGetProgramLogSize",
                get_program_log: "hiprtcGetProgramLog",
                get_code_size: "hiprtcGetCodeSize",
                get_code: "hiprtcGetCode",
                destroy_program: "hiprtcDestroyProgram",
            }
        ))
    }

    fn check(&self, what: &str, status: Status) -> Result<()> {
        if status == 0 {
            return Ok(());
        }
        // SAFETY: a static string of the library.
        let text = unsafe { CStr::from_ptr((self.get_error_string)(status)) };
        Err(Error::Device(format!("{what} failed: {status} ({})", text.to_string_lossy())))
    }

    fn compile(&self, kernel: &Kernel) -> Result<Vec<u8>> {
        let text = |s: &str| CString::new(s).map_err(|e| Error::Device(e.to_string()));
        let source = text(&kernel.source)?;
        let options = [text(&format!("--offload-arch={}", kernel.target))?, text("-O2")?];
        let pointers: Vec<*const c_char> = options.iter().map(|o| o.as_ptr()).collect();
        let mut program = std::ptr::null_mut();
        // SAFETY: NUL-terminated strings; buffers sized as hiprtc says.
        unsafe {
            let created = (self.create_program)(
                &mut program,
                source.as_ptr(),
                c"bitmma.hip".as_ptr(),
                0,
                std::ptr::null(),
                std::ptr::null(),
            );
            self.check("hiprtcCreateProgram", created)?;
            let status = (self.compile_program)(program, pointers.len() as c_int, pointers.as_ptr());
            if status != 0 {
                let mut size = 0;
                (self.get_program_log_size)(program, &mut size);
                let mut log = vec![0u8; size.max(1)];
                (self.get_program_log)(program, log.as_mut_ptr().cast());
                (self.destroy_program)(&mut program);
                let log = String::from_utf8_lossy(&log).trim_end_matches('\0').trim().replace('\n', " | ");
                return Err(Error::Device(format!("hiprtc could not compile the kernel for {}: {log}", kernel.target)));
            }
            let mut size = 0;
            self.check("hiprtcGetCodeSize", (self.get_code_size)(program, &mut size))?;
            let mut code = vec![0u8; size];
            self.check("hiprtcGetCode", (self.get_code)(program, code.as_mut_ptr().cast()))?;
            (self.destroy_program)(&mut program);
            Ok(code)
        }
    }
}

pub fn devices() -> Result<Vec<DeviceInfo>> {
    let api = Api::load()?;
    (0..api.count()?).map(|i| api.info(i)).collect()
}

pub struct Hip {
    api: Api,
    compiler: Compiler,
    info: DeviceInfo,
    functions: Vec<(*mut c_void, u32)>,
    input: (*mut c_void, usize),
    output: (*mut c_void, usize),
}

impl Hip {
    pub fn open(index: usize) -> Result<Hip> {
        let api = Api::load()?;
        let compiler = Compiler::load()?;
        let count = api.count()?;
        if index >= count {
            return Err(no_device(format!("there is no HIP device {index}, the runtime sees {count}")));
        }
        let info = api.info(index)?;
        // SAFETY: an existing device.
        api.check("hipSetDevice", unsafe { (api.set_device)(index as c_int) })?;
        let none = (std::ptr::null_mut(), 0);
        Ok(Hip { api, compiler, info, functions: Vec::new(), input: none, output: none })
    }

    fn reserve(&self, buffer: (*mut c_void, usize), bytes: usize) -> Result<(*mut c_void, usize)> {
        if bytes <= buffer.1 {
            return Ok(buffer);
        }
        let mut address = std::ptr::null_mut();
        // SAFETY: frees only what this object allocated.
        unsafe {
            if buffer.1 > 0 {
                self.api.check("hipFree", (self.api.free)(buffer.0))?;
            }
            self.api.check(&format!("hipMalloc of {bytes} bytes"), (self.api.malloc)(&mut address, bytes))?;
        }
        Ok((address, bytes))
    }
}

impl Device for Hip {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn compile(&mut self, kernel: &Kernel) -> Result<(usize, Option<String>)> {
        let code = self.compiler.compile(kernel)?;
        let entry = CString::new(ENTRY).map_err(|e| Error::Device(e.to_string()))?;
        let (mut module, mut function) = (std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: a code object of hiprtc; the module keeps its own copy.
        unsafe {
            self.api.check("hipModuleLoadData", (self.api.module_load_data)(&mut module, code.as_ptr().cast()))?;
            self.api
                .check("hipModuleGetFunction", (self.api.module_get_function)(&mut function, module, entry.as_ptr()))?;
        }
        self.functions.push((function, kernel.threads));
        Ok((self.functions.len() - 1, disassemble::amd_opcode(&code)))
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
            let status = (api.module_launch_kernel)(
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
            api.check("the kernel", (api.device_synchronize)())?;
            api.check(
                "copying from the device",
                (api.memcpy_dtoh)(output.as_mut_ptr().cast(), self.output.0, output.len()),
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::gfx_name;

    #[test]
    fn architecture_without_features() {
        let mut properties = vec![7u8; 600];
        properties.extend(b"gfx90a:sramecc+:xnack-\0");
        assert_eq!(gfx_name(&properties).as_deref(), Some("gfx90a"));
        assert_eq!(gfx_name(b"gfx942\0\0").as_deref(), Some("gfx942"));
        assert_eq!(gfx_name(b"no architecture here"), None);
    }
}
