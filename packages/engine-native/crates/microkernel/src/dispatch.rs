//! Selection: which micro-kernel serves an op on an instruction set.

use crate::detect::Isa;
use crate::gemm::Kernel;
#[cfg(target_arch = "aarch64")]
use crate::microkernel::neon;
use crate::microkernel::plain::{Plain, Unit};
#[cfg(target_arch = "x86_64")]
use crate::microkernel::{avx2, avx512};
use crate::params::{Family, Format, Output, Params};

/// CDNA1's sums and CDNA2's trees of an instruction set, for blocks that fill the instruction.
#[cfg(target_arch = "x86_64")]
macro_rules! blocks {
    ($isa:ident, $p:expr) => {{
        fn make<U: Unit>(p: &Params) -> Kernel {
            Kernel::new(*p, p.k, Box::new(Plain::<U>::new(p.a, p.b, p.k)))
        }
        use $isa::{exact::Sum, pairwise::Tree};
        let p: &Params = $p;
        let half = |f| matches!(f, Format::Fp16 | Format::Bf16);
        // Only bf16's range has subnormal products.
        let wide = p.a == Format::Bf16 || p.b == Format::Bf16;
        match (p.family, p.output) {
            (Family::Pairwise { block }, Output::Fp32Rne)
                if half(p.a) && half(p.b) && p.k.is_multiple_of(block) =>
            {
                match (block, wide) {
                    (4, true) => Some(make::<Tree<4, true>>(p)),
                    (4, false) => Some(make::<Tree<4, false>>(p)),
                    (2, true) => Some(make::<Tree<2, true>>(p)),
                    (2, false) => Some(make::<Tree<2, false>>(p)),
                    _ => None,
                }
            }
            (Family::Exact { block }, Output::Fp32Rne)
                if half(p.a) && half(p.b) && p.k.is_multiple_of(block) =>
            {
                // Errors of four products are exact together in fp16's range alone.
                match (block, wide) {
                    (4, false) => Some(make::<Sum<4>>(p)),
                    (2, _) => Some(make::<Sum<2>>(p)),
                    _ => None,
                }
            }
            _ => None,
        }
    }};
}

/// The micro-kernel of `isa` for this op; None where there is none, or where the machine lacks `isa`.
pub fn select(params: &Params, isa: Isa) -> Option<Kernel> {
    if !isa.available() {
        return None;
    }
    match isa {
        #[cfg(target_arch = "aarch64")]
        Isa::Neon => plain::<neon::plain::Fma, neon::plain::Pairs>(params),
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => plain::<avx2::plain::Fma, avx2::plain::Pairs>(params)
            .or_else(|| blocks!(avx2, params))
            .or_else(|| select_avx2(params)),
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => plain::<avx512::plain::Fma, avx512::plain::Vnni>(params)
            .or_else(|| blocks!(avx512, params))
            .or_else(|| select_avx512(params)),
        _ => None,
    }
}

/// Chains without windows.
fn plain<F: Unit, I: Unit>(p: &Params) -> Option<Kernel> {
    let integer = |f| matches!(f, Format::S8 | Format::U8);
    match (p.family, p.output) {
        (Family::SequentialFma, Output::Fp32Rne) if p.a == Format::Fp32 && p.b == Format::Fp32 => {
            Some(Kernel::new(*p, p.k, Box::new(Plain::<F>::new(p.a, p.b, p.k))))
        }
        (Family::Integer, Output::S32Wrap) if integer(p.a) && integer(p.b) && p.k.is_multiple_of(4) => {
            Some(Kernel::new(*p, p.k, Box::new(Plain::<I>::new(p.a, p.b, p.k))))
        }
        _ => None,
    }
}

#[cfg(target_arch = "x86_64")]
fn select_avx512(p: &Params) -> Option<Kernel> {
    use avx512::{
        odd_even_f64::OddEvenF64, split_f64::SplitF64, window_f32::WindowF32, window_f64::WindowF64,
        window_i32::WindowI32, window_wide::WindowWide,
    };
    let (a, b) = (p.a.layout()?, p.b.layout()?);
    match (p.family, p.output) {
        (Family::FusedWindow { block, fraction: 13, floor }, Output::Fp32Rz { precision }) => match block {
            16 => Some(Kernel::new(*p, 16, Box::new(WindowF32::<16>::new(a, b, 13, floor, precision)?))),
            32 => Some(Kernel::new(*p, 32, Box::new(WindowF32::<32>::new(a, b, 13, floor, precision)?))),
            _ => None,
        },
        (Family::FusedWindow { block, fraction, floor }, Output::Fp32Rz { precision }) => {
            fn make<const N: usize, const F: i32>(
                p: &Params,
                floor: Option<i32>,
                precision: u32,
            ) -> Option<Kernel> {
                let (a, b) = (p.a.layout()?, p.b.layout()?);
                if let Some(micro) = WindowF64::<N, F, 0>::new(a, b, floor, precision) {
                    return Some(Kernel::new(*p, N, Box::new(micro)));
                }
                // Few terms a block: conversions cost less than an origin for each result.
                if N == 4
                    && precision == 23
                    && let Some(micro) = WindowI32::<N, F, false>::new(a, b, floor, p.k)
                {
                    return Some(Kernel::new(*p, p.k, Box::new(micro)));
                }
                let micro = WindowWide::<N, F, 0>::new(a, b, floor, precision)?;
                Some(Kernel::new(*p, N, Box::new(micro)))
            }
            match (block, fraction) {
                (4, 23) => make::<4, 23>(p, floor, precision),
                (4, 24) => make::<4, 24>(p, floor, precision),
                (4, 25) => make::<4, 25>(p, floor, precision),
                (8, 24) => make::<8, 24>(p, floor, precision),
                (8, 25) => make::<8, 25>(p, floor, precision),
                (16, 25) => make::<16, 25>(p, floor, precision),
                (32, 25) => make::<32, 25>(p, floor, precision),
                _ => None,
            }
        }
        (Family::Cdna3Window { block: 8 }, Output::Fp32Rne) if p.k.is_multiple_of(8) => {
            Some(Kernel::new(*p, p.k, Box::new(WindowI32::<8, 24, true>::new(a, b, None, p.k)?)))
        }
        (Family::Cdna3Window { block: 4 }, Output::Fp32Rne) if p.k.is_multiple_of(4) => {
            Some(Kernel::new(*p, p.k, Box::new(WindowI32::<4, 24, true>::new(a, b, None, p.k)?)))
        }
        (Family::Cdna3OddEven, Output::Fp32Rne) if p.k.is_multiple_of(16) => {
            Some(Kernel::new(*p, 16, Box::new(OddEvenF64::<0>::new(a, b)?)))
        }
        (
            Family::SplitWindow { block: 16, fraction: 25, floor, select_bit: 1 },
            Output::Fp32Rz { precision: 23 },
        ) if p.k == 32 => Some(Kernel::new(*p, 32, Box::new(SplitF64::<0>::new(a, b, floor)?))),
        _ => None,
    }
}

#[cfg(target_arch = "x86_64")]
fn select_avx2(p: &Params) -> Option<Kernel> {
    use avx2::{cdna3_i32::Cdna3I32, window_f32::WindowF32, window_i32::WindowI32, window_wide::WindowWide};
    let (a, b) = (p.a.layout()?, p.b.layout()?);
    match (p.family, p.output) {
        (Family::FusedWindow { block, fraction: 13, floor }, Output::Fp32Rz { precision }) => match block {
            16 => Some(Kernel::new(*p, 16, Box::new(WindowF32::<16>::new(a, b, floor, precision)?))),
            32 => Some(Kernel::new(*p, 32, Box::new(WindowF32::<32>::new(a, b, floor, precision)?))),
            _ => None,
        },
        (Family::FusedWindow { block, fraction, floor }, Output::Fp32Rz { precision: 23 }) => {
            fn make<const N: usize, const F: i32>(p: &Params, floor: Option<i32>) -> Option<Kernel> {
                let (a, b) = (p.a.layout()?, p.b.layout()?);
                if let Some(micro) = WindowWide::<N, F, 0>::new(a, b, floor) {
                    return Some(Kernel::new(*p, N, Box::new(micro)));
                }
                Some(Kernel::new(*p, N, Box::new(WindowI32::<N, F, false, 0>::new(a, b, floor)?)))
            }
            match (block, fraction) {
                (4, 23) => make::<4, 23>(p, floor),
                (4, 24) => make::<4, 24>(p, floor),
                (4, 25) => make::<4, 25>(p, floor),
                (8, 24) => make::<8, 24>(p, floor),
                (8, 25) => make::<8, 25>(p, floor),
                (16, 25) => make::<16, 25>(p, floor),
                (32, 25) => make::<32, 25>(p, floor),
                _ => None,
            }
        }
        (Family::Cdna3Window { block }, Output::Fp32Rne) => match block {
            4 => Some(Kernel::new(*p, p.k, Box::new(Cdna3I32::<4, false>::new(a, b, p.k)?))),
            8 => Some(Kernel::new(*p, p.k, Box::new(Cdna3I32::<8, false>::new(a, b, p.k)?))),
            _ => None,
        },
        (Family::Cdna3OddEven, Output::Fp32Rne) => {
            Some(Kernel::new(*p, p.k, Box::new(Cdna3I32::<8, true>::new(a, b, p.k)?)))
        }
        (
            Family::SplitWindow { block: 16, fraction: 25, floor, select_bit: 1 },
            Output::Fp32Rz { precision: 23 },
        ) if p.k == 32 => {
            Some(Kernel::new(*p, 32, Box::new(WindowI32::<16, 25, true, 0>::new(a, b, floor)?)))
        }
        _ => None,
    }
}
