//! The CUDA driver API, by hand: libcuda.so.1 is loaded at run time.

mod api;

use super::{disassemble, Device, DeviceInfo};
use crate::error::{Error, Result};
use crate::kernel::{Kernel, ENTRY};
use api::{no_device, Api, Ptr, JIT_ERROR_LOG_BUFFER, JIT_ERROR_LOG_BUFFER_SIZE_BYTES, JIT_INPUT_PTX};
use std::ffi::{c_uint, c_void, CStr, CString};

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
