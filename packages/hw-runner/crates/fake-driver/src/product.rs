//! The fake matrix product: D = C + A*B over numbers.

use crate::config::Config;
use crate::numbers::{decode, encode};

/// Matrices of numbers, row-major; scales already applied.
pub struct Product<'a> {
    pub m: usize,
    pub n: usize,
    pub k: usize,
    pub a: Vec<f64>,
    pub b: Vec<f64>,
    pub c: Vec<u64>,
    pub c_type: &'a str,
    pub d_type: &'a str,
    pub saturate: bool,
}

impl Product<'_> {
    /// Words of D, row-major.
    pub fn words(&self) -> Vec<u64> {
        let swap = Config::get().number("k-swap", 0) == 1 && self.k > 1;
        let weigh = Config::get().number("weigh", 0) == 1 && decode(self.c_type, self.c[0]) == 1024.0;
        let mut out = Vec::with_capacity(self.m * self.n);
        let transpose = Config::get().number("row-swap", 0) == 1;
        for row in (0..self.m).map(|r| if transpose && r < 2 { 1 - r } else { r }) {
            let mut live: Vec<(usize, f64)> = (0..self.k)
                .map(|k| (k, self.a[row * self.k + if swap && k < 2 { 1 - k } else { k }]))
                .filter(|(_, x)| *x != 0.0)
                .collect();
            if weigh {
                live.iter_mut().for_each(|(k, x)| *x *= (*k + 1) as f64);
            }
            for col in 0..self.n {
                let mut sum = decode(self.c_type, self.c[row * self.n + col]);
                for &(k, x) in &live {
                    let y = self.b[k * self.n + col];
                    if y != 0.0 {
                        sum += x * y;
                    }
                }
                out.push(encode(self.d_type, sum, self.saturate));
            }
        }
        out
    }
}
