//! The executable's commands.

pub mod gemm;
pub mod inspect;
pub mod options;
pub mod record;
pub mod serve;

use crate::driver::worker::Worker;
use crate::driver::{devices, Api, DeviceInfo};
use crate::error::{Error, Result};
use crate::kernel::Arch;
use options::Options;
use std::time::{SystemTime, UNIX_EPOCH};

/// Opens the GPU that the options name: the API asked for, or the first of CUDA and HIP that has it.
pub fn open_worker(options: &Options) -> Result<Worker> {
    match options.api {
        Some(api) => Worker::open(api, options.gpu, options.timeout),
        None => match Worker::open(Api::Cuda, options.gpu, options.timeout) {
            Err(Error::Unavailable { reason, remedy }) => {
                Worker::open(Api::Hip, options.gpu, options.timeout).map_err(|hip| match hip {
                    Error::Unavailable { reason: other, .. } => {
                        Error::unavailable(format!("{reason}; {other}"), remedy)
                    }
                    fault => fault,
                })
            }
            opened => opened,
        },
    }
}

/// Every device of both APIs, and what was missing.
pub fn all_devices(api: Option<Api>) -> (Vec<DeviceInfo>, Vec<Error>) {
    let (mut found, mut missing) = (Vec::new(), Vec::new());
    for one in [Api::Cuda, Api::Hip].into_iter().filter(|a| api.is_none_or(|wanted| wanted == *a)) {
        match devices(one) {
            Ok(list) => found.extend(list),
            Err(error) => missing.push(error),
        }
    }
    (found, missing)
}

/// The header's words on a device.
pub fn provenance(info: &DeviceInfo) -> Vec<(String, String)> {
    let mut out = vec![
        ("source".to_string(), format!("bitmma-hw {}", env!("CARGO_PKG_VERSION"))),
        ("date".into(), utc_date()),
        ("gpu".into(), info.name.clone()),
    ];
    match &info.arch {
        Arch::Sm(sm) => out.push(("computeCapability".into(), format!("{}.{}", sm / 10, sm % 10))),
        Arch::Gfx(name) => out.push(("architecture".into(), name.clone())),
    }
    out.push(("driver".into(), info.driver.clone()));
    out.push(("toolkit".into(), info.toolkit.clone()));
    out.push(("evidence".into(), "recorded".into()));
    out
}

/// `2026-11-30T02:00:00Z`.
pub fn utc_date() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    date_of(seconds)
}

/// Civil date of a day count: eras of 400 years, years beginning in March.
fn date_of(seconds: u64) -> String {
    let (days, rest) = (seconds / 86400, seconds % 86400);
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_index = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_index + 2) / 5 + 1;
    let month = if month_index < 10 { month_index + 3 } else { month_index - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", rest / 3600, rest / 60 % 60, rest % 60)
}

#[cfg(test)]
mod tests {
    use super::date_of;

    #[test]
    fn dates() {
        assert_eq!(date_of(0), "1970-01-01T00:00:00Z");
        assert_eq!(date_of(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(date_of(1_796_005_261), "2026-11-30T02:21:01Z");
    }
}
