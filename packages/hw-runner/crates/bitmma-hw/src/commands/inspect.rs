//! Commands that record nothing: devices and instructions, probes, kernel sources, layouts.

use super::options::Options;
use super::{all_devices, open_worker};
use crate::catalog::device_id;
use crate::error::{Error, Result};
use crate::forms::{all_names, names_for};
use crate::instruction::Instruction;
use crate::kernel::{kernel, known_archs};
use crate::layout::{Layout, Matrix};
use crate::session::Session;
use serde_json::{json, Value};

fn instruction_option(options: &Options) -> Result<Instruction> {
    let name = options.instruction.as_deref().ok_or_else(|| Error::Input("expected --instruction NAME".into()))?;
    Instruction::parse(name)
}

/// Devices, then every known instruction with the reason where the chosen device lacks it.
pub fn list(options: &Options) -> Result<()> {
    let (devices, missing) = all_devices(options.api);
    for info in &devices {
        println!(
            "{}",
            json!({ "api": info.api, "gpu": info.index, "name": info.name, "arch": info.arch.to_string(),
                    "device": device_id(&info.name, &info.arch), "driver": info.driver, "toolkit": info.toolkit })
        );
    }
    let Some(info) = devices.iter().find(|d| d.index == options.gpu) else {
        return Err(missing.into_iter().next().unwrap_or_else(|| {
            Error::unavailable(format!("there is no device {}", options.gpu), "choose one of those listed")
        }));
    };
    for name in names_for(&info.arch) {
        let i = Instruction::parse(&name)?;
        let line = match kernel(&i, &Layout::of(&i), &info.arch) {
            Ok(k) => json!({ "instruction": name, "supported": true, "target": k.target }),
            Err(why) => json!({ "instruction": name, "supported": false, "reason": why }),
        };
        println!("{line}");
    }
    Ok(())
}

/// Probes one instruction, or every one that the device has.
pub fn probe(options: &Options) -> Result<()> {
    let mut session = Session::new(open_worker(options)?);
    let names = match &options.instruction {
        Some(name) => vec![name.clone()],
        None => names_for(&session.worker.info.arch),
    };
    let one = options.instruction.is_some();
    let mut failure = None;
    for name in names {
        match session.prepare(&name) {
            Ok(p) => {
                println!(
                    "{}",
                    json!({ "instruction": name, "probes": p.probes, "opcode": p.opcode, "misplaced": p.misplaced })
                );
                if let Some(message) = &p.misplaced {
                    failure = Some(Error::Probe(message.clone()));
                }
            }
            Err(Error::Unavailable { .. }) if !one => {}
            Err(Error::Probe(message)) => {
                println!("{}", json!({ "instruction": name, "failure": message }));
                failure = Some(Error::Probe(message));
            }
            Err(error) => return Err(error),
        }
    }
    failure.map_or(Ok(()), Err)
}

/// The kernel's source for an architecture.
pub fn source(options: &Options) -> Result<()> {
    let i = instruction_option(options)?;
    let arch = options.arch.as_ref().ok_or_else(|| Error::Input("expected --arch sm_N or gfxN".into()))?;
    let k = kernel(&i, &Layout::of(&i), arch).map_err(|why| Error::unavailable(why, "choose another --arch"))?;
    print!("{}", k.source);
    Ok(())
}

/// Every kernel; `--report DIR` also writes the sources there.
pub fn kernels(options: &Options) -> Result<()> {
    for name in all_names() {
        let i = Instruction::parse(&name)?;
        let layout = Layout::of(&i);
        for arch in known_archs() {
            let Ok(k) = kernel(&i, &layout, &arch) else { continue };
            let language = if i.is_cuda() { "ptx" } else { "hip" };
            let mut line =
                json!({ "instruction": name, "arch": arch.to_string(), "target": k.target, "language": language });
            if let Some(folder) = &options.report {
                let file = folder.join(format!("{}@{arch}.{language}", name.replace("::", "-")));
                std::fs::write(&file, k.source).map_err(|e| Error::Io(format!("{}: {e}", file.display())))?;
                line["file"] = Value::String(file.to_string_lossy().into_owned());
            }
            println!("{line}");
        }
    }
    Ok(())
}

fn matrix(m: &Matrix) -> Value {
    let slots: Vec<Value> = m.slots.iter().map(|s| json!([s.block, s.row, s.col, s.bit])).collect();
    json!({ "bits": m.bits, "slots": slots })
}

/// The instruction's layout: slots are [block, row, column, first bit].
pub fn layout(options: &Options) -> Result<()> {
    let i = instruction_option(options)?;
    let l = Layout::of(&i);
    println!(
        "{}",
        json!({ "instruction": i.name, "inputBytes": l.input_bytes, "outputBytes": l.output_bytes,
                "a": matrix(&l.a), "b": matrix(&l.b), "c": matrix(&l.c), "d": matrix(&l.d),
                "scaleA": l.scale_a.as_ref().map(matrix), "scaleB": l.scale_b.as_ref().map(matrix),
                "sparse": l.sparse.as_ref().map(matrix) })
    );
    Ok(())
}
