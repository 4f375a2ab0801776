//! The device in a thread of its own, so that a call that never returns is noticed.

use super::{open, Api, DeviceInfo};
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use std::sync::mpsc::{channel, Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

enum Job {
    Compile(Box<Kernel>),
    Run { program: usize, input: Vec<u8>, output_bytes: usize, count: u32 },
}

enum Done {
    Opened(DeviceInfo),
    Compiled(usize, Option<String>),
    Ran { input: Vec<u8>, output: Vec<u8> },
}

/// A device; every call fails with a Device error when no answer comes within the time limit. After such an error
/// the thread is lost and the process should end.
pub struct Worker {
    jobs: Sender<Job>,
    answers: Receiver<Result<Done>>,
    limit: Duration,
    pub info: DeviceInfo,
}

impl Worker {
    pub fn open(api: Api, index: usize, limit: Duration) -> Result<Worker> {
        let (jobs, inbox) = channel::<Job>();
        let (outbox, answers) = channel::<Result<Done>>();
        std::thread::spawn(move || {
            let mut device = match open(api, index) {
                Ok(device) => device,
                Err(error) => {
                    let _ = outbox.send(Err(error));
                    return;
                }
            };
            if outbox.send(Ok(Done::Opened(device.info().clone()))).is_err() {
                return;
            }
            for job in inbox {
                let answer = match job {
                    Job::Compile(kernel) => device.compile(&kernel).map(|(p, opcode)| Done::Compiled(p, opcode)),
                    Job::Run { program, input, output_bytes, count } => {
                        let mut output = vec![0u8; output_bytes];
                        device.run(program, &input, &mut output, count).map(|()| Done::Ran { input, output })
                    }
                };
                if outbox.send(answer).is_err() {
                    return;
                }
            }
        });
        match wait(&answers, limit, "opening the device")? {
            Done::Opened(info) => Ok(Worker { jobs, answers, limit, info }),
            _ => unreachable!(),
        }
    }

    pub fn compile(&self, kernel: Kernel) -> Result<(usize, Option<String>)> {
        let _ = self.jobs.send(Job::Compile(Box::new(kernel)));
        match wait(&self.answers, self.limit, "compiling a kernel")? {
            Done::Compiled(program, opcode) => Ok((program, opcode)),
            _ => unreachable!(),
        }
    }

    /// Runs `count` cases; gives the input buffer back with the output images.
    pub fn run(&self, program: usize, input: Vec<u8>, output_bytes: usize, count: u32) -> Result<(Vec<u8>, Vec<u8>)> {
        let _ = self.jobs.send(Job::Run { program, input, output_bytes, count });
        match wait(&self.answers, self.limit, "running a kernel")? {
            Done::Ran { input, output } => Ok((input, output)),
            _ => unreachable!(),
        }
    }
}

/// Waits for an answer no longer than the limit.
pub fn wait<T>(answers: &Receiver<Result<T>>, limit: Duration, what: &str) -> Result<T> {
    match answers.recv_timeout(limit) {
        Ok(answer) => answer,
        Err(RecvTimeoutError::Timeout) => Err(Error::Device(format!(
            "{what} gave no answer within {} s: the kernel or the driver hangs",
            limit.as_secs_f64()
        ))),
        Err(RecvTimeoutError::Disconnected) => Err(Error::Device(format!("{what}: the device's thread ended"))),
    }
}
