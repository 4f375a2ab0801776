//! A GPU behind its driver, loaded at run time.

pub mod cublaslt;
pub mod cuda;
pub mod disassemble;
pub mod hip;
pub mod worker;

use crate::error::Result;
use crate::kernel::{Arch, Kernel};

/// What the output's header says of the device.
#[derive(Debug, Clone)]
pub struct DeviceInfo {
    pub api: &'static str,
    pub index: usize,
    pub name: String,
    pub arch: Arch,
    /// Driver version, and the version of the toolkit that it carries (its compiler).
    pub driver: String,
    pub toolkit: String,
}

/// One open device. `Program` numbers are given by compile().
pub trait Device {
    fn info(&self) -> &DeviceInfo;
    /// Compiles a kernel; also the machine opcode of its matrix instruction, where a disassembler is there.
    fn compile(&mut self, kernel: &Kernel) -> Result<(usize, Option<String>)>;
    /// Runs `count` cases: input images in, output images out, once the device has finished.
    fn run(&mut self, program: usize, input: &[u8], output: &mut [u8], count: u32) -> Result<()>;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Api {
    Cuda,
    Hip,
}

/// Opens device `index` of an API.
pub fn open(api: Api, index: usize) -> Result<Box<dyn Device>> {
    Ok(match api {
        Api::Cuda => Box::new(cuda::Cuda::open(index)?),
        Api::Hip => Box::new(hip::Hip::open(index)?),
    })
}

/// Names and architectures of an API's devices.
pub fn devices(api: Api) -> Result<Vec<DeviceInfo>> {
    match api {
        Api::Cuda => cuda::devices(),
        Api::Hip => hip::devices(),
    }
}

/// Opens the first library of `names` that there is; `BITMMA_HW_LIB_DIR` comes before the system's search path.
pub fn library(names: &[&str]) -> std::result::Result<libloading::Library, String> {
    let mut first = None;
    let folder = std::env::var_os("BITMMA_HW_LIB_DIR").filter(|dir| !dir.is_empty());
    for name in names {
        let path = match &folder {
            Some(dir) => std::path::Path::new(dir).join(name).into_os_string(),
            None => name.into(),
        };
        // SAFETY: loading runs the vendor library's initialisers, as linking against it would.
        match unsafe { libloading::Library::new(&path) } {
            Ok(library) => return Ok(library),
            Err(error) => {
                use std::error::Error as _;
                let why = error.source().map_or_else(|| error.to_string(), |cause| format!("{error}: {cause}"));
                first = first.or(Some(why));
            }
        }
    }
    Err(first.unwrap_or_else(|| "no library name".into()))
}
