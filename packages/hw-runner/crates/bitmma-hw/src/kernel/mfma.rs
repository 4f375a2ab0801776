//! V_MFMA as HIP C++ for hiprtc: no header, compiler builtins only.

use super::Kernel;
use crate::format::Format;
use crate::instruction::Instruction;
use crate::layout::{mfma, Layout, Parts, Registers};
use std::fmt::Write;

/// The C++ type of an operand of `n` elements a lane, as the builtin wants it.
fn operand_type(f: &mfma::Form, n: usize) -> String {
    match (f.a, n) {
        (Format::Fp32, 1) => "float".into(),
        (Format::Fp64, 1) => "double".into(),
        (Format::Tf32, n) => format!("float __attribute__((ext_vector_type({n})))"),
        (Format::Fp16, n) => format!("_Float16 __attribute__((ext_vector_type({n})))"),
        (Format::Bf16, n) => format!("short __attribute__((ext_vector_type({n})))"),
        (_, 4) => "int".into(),
        _ => "long".into(),
    }
}

fn accumulator_type(d: Format, n: usize) -> String {
    let element = match d {
        Format::Fp64 => "double",
        Format::S32 => "int",
        _ => "float",
    };
    if n == 1 {
        element.into()
    } else {
        format!("{element} __attribute__((ext_vector_type({n})))")
    }
}

fn word(r: &Registers) -> &'static str {
    if r.bytes == 8 {
        "unsigned long"
    } else {
        "unsigned int"
    }
}

pub fn kernel(i: &Instruction, layout: &Layout, gfx: &str) -> Result<Kernel, String> {
    let form = mfma::find(&i.name).ok_or("no such MFMA")?;
    if !form.targets.contains(&gfx) {
        return Err(format!("{} exists on {} alone, this device is {gfx}", i.name, form.targets.join(", ")));
    }
    let Parts::Warp { a, b, c, d, .. } = &layout.parts else { unreachable!() };
    let per_lane = i.m * i.k * i.blocks / mfma::LANES;
    let mut s = String::new();
    let _ = write!(
        s,
        "typedef {} operand;\ntypedef {} accumulator;\n\
         union Operand {{ {} w[{}]; operand v; }};\nunion Accumulator {{ {} w[{}]; accumulator v; }};\n\n\
         extern \"C\" __attribute__((global)) __attribute__((amdgpu_flat_work_group_size(64, 64)))\n\
         void bitmma(const char* input, char* output, unsigned int count) {{\n  \
         unsigned int lane = __builtin_amdgcn_workitem_id_x();\n  \
         unsigned long block = __builtin_amdgcn_workgroup_id_x();\n  if (block >= count) return;\n  \
         const char* in = input + block * {};\n  char* out = output + block * {};\n  \
         Operand a, b;\n  Accumulator c;\n",
        operand_type(form, per_lane),
        accumulator_type(i.d, c.count),
        word(a),
        a.count,
        word(c),
        c.count,
        layout.input_bytes,
        layout.output_bytes
    );
    for (name, file) in [("a", a), ("b", b), ("c", c)] {
        for r in 0..file.count {
            let _ = writeln!(
                s,
                "  {name}.w[{r}] = *(const {}*)(in + {} + lane * {});",
                word(file),
                file.base + r * file.lanes * file.bytes,
                file.bytes
            );
        }
    }
    let _ = writeln!(s, "  c.v = {}(a.v, b.v, c.v, 0, 0, 0);", form.builtin());
    for r in 0..d.count {
        let _ =
            writeln!(s, "  *({}*)(out + {} + lane * {}) = c.w[{r}];", word(d), d.base + r * d.lanes * d.bytes, d.bytes);
    }
    s.push_str("}\n");
    Ok(Kernel { source: s, target: gfx.into(), threads: mfma::LANES as u32 })
}
