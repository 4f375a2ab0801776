//! Wall time, or processor time of this thread.

#[repr(C)]
struct Timespec {
    seconds: i64,
    nanoseconds: i64,
}

unsafe extern "C" {
    fn clock_gettime(clock: i32, time: *mut Timespec) -> i32;
}

#[derive(Clone, Copy)]
pub enum Clock {
    Wall,
    ThreadCpu,
}

impl Clock {
    /// Seconds since some fixed moment.
    pub fn now(self) -> f64 {
        // Linux's CLOCK_MONOTONIC and CLOCK_THREAD_CPUTIME_ID.
        let id = match self {
            Clock::Wall => 1,
            Clock::ThreadCpu => 3,
        };
        let mut t = Timespec { seconds: 0, nanoseconds: 0 };
        // SAFETY: `t` is a valid timespec of 64-bit Linux.
        let rc = unsafe { clock_gettime(id, &mut t) };
        assert_eq!(rc, 0);
        t.seconds as f64 + t.nanoseconds as f64 * 1e-9
    }
}
