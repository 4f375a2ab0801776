"""Operand files by NumPy, ml_dtypes and safetensors, and the words that each command must give for them.

The expectations are computed here, in Python fractions and by ml_dtypes' own casts: a second author of the arithmetic.
"""
import json
import sys
from fractions import Fraction
from math import floor
from pathlib import Path

import ml_dtypes
import numpy as np
from safetensors.numpy import save_file

out = Path(sys.argv[1])
out.mkdir(parents=True, exist_ok=True)
rng = np.random.default_rng(7)
expected = {}


def trunc(value, quantum):
    steps = abs(value) / Fraction(2) ** quantum
    return (1 if value > 0 else -1) * floor(steps) * Fraction(2) ** quantum


def exponent(value):
    """floor(log2 |value|) of a nonzero fraction."""
    e = abs(value).numerator.bit_length() - value.denominator.bit_length()
    return e if abs(value) >= Fraction(2) ** e else e - 1


def to_fp32(value, mode, p=23):
    """Word of a fraction rounded to p fraction bits of fp32."""
    if value == 0:
        return 0
    e = max(exponent(value), -126)
    quantum = Fraction(2) ** (e - p)
    steps = abs(value) / quantum
    kept = floor(steps)
    rest = steps - kept
    if mode == "RNE" and (rest > Fraction(1, 2) or (rest == Fraction(1, 2) and kept % 2)):
        kept += 1
    number = np.float64(float(kept * quantum))
    assert abs(number) < 3.4e38
    word = int(np.float32(number).view(np.uint32))
    return word | (0x80000000 if value < 0 else 0) if word else 0


def encoded(dtype, x):
    """(exact value, encoded exponent) of an array element."""
    info = ml_dtypes.finfo(dtype)
    value = Fraction(float(x))
    emin = int(np.log2(float(info.smallest_normal)))
    return value, (max(exponent(value), emin) if value else None)


def fp32_of(word):
    return Fraction(float(np.uint32(word).view(np.float32)))


def fused_window(a, b, c, block, fraction, low, p=23):
    """numerics 4.1 over one dot product; c and the result are fp32 words."""
    for k in range(0, len(a), block):
        terms = []
        for x, y in zip(a[k : k + block], b[k : k + block]):
            (u, e), (v, f) = encoded(a.dtype, x), encoded(b.dtype, y)
            if u * v:
                terms.append((u * v, e + f))
        if fp32_of(c):
            terms.append((fp32_of(c), max(exponent(fp32_of(c)), -126)))
        if not terms:
            c = 0
            continue
        top = max([e for _, e in terms] + ([low] if low is not None else []))
        c = to_fp32(sum(trunc(value, top - fraction) for value, _ in terms), "RZ", p)
    return c


def exact_sums(a, b, c, block):
    for k in range(0, len(a), block):
        products = (Fraction(float(x)) * Fraction(float(y)) for x, y in zip(a[k : k + block], b[k : k + block]))
        c = to_fp32(fp32_of(c) + sum(products), "RNE")
    return c


def gemm(a, b, c, rule):
    return [[rule(a[i], b[:, j], 0 if c is None else int(c[i, j].view(np.uint32))) for j in range(b.shape[1])]
            for i in range(a.shape[0])]


def wide(shape, dtype, spread=3):
    return (rng.standard_normal(shape) * 2.0 ** rng.integers(-spread, spread + 1, shape)).astype(dtype)


def remember(name, command, words, shape=None):
    expected[name] = {"command": command, "words": [f"{w:08x}" for w in np.array(words).ravel().tolist()], "shape": shape}


# bf16: A from ml_dtypes' .npy (V2), B a torch-style weight in .safetensors, with C.
a, w = wide((3, 40), ml_dtypes.bfloat16), wide((4, 40), ml_dtypes.bfloat16)
c = wide((3, 4), np.float32)
np.save(out / "a-bf16.npy", a)
np.save(out / "c.npy", c)
save_file({"layer.weight": w}, out / "w-bf16.safetensors")
words = gemm(a, w.T, c, lambda x, y, z: fused_window(x, y, z, 16, 25, -133))
remember("bf16 on h100 with C, B transposed",
         "gemm @a-bf16.npy @w-bf16.safetensors:layer.weight --trans-b --c @c.npy --device h100 --a-format bf16", words, [3, 4])

# e4m3: V1 with a stated format, a safetensors F8_E4M3; mixed with e5m2.
a, b = wide((3, 70), ml_dtypes.float8_e4m3fn), wide((70, 2), ml_dtypes.float8_e5m2)
np.save(out / "a-e4m3.npy", a)
save_file({"b": b}, out / "b-e5m2.safetensors")
words = gemm(a, b, None, lambda x, y, z: fused_window(x, y, z, 32, 13, -133, 13))
remember("e4m3 x e5m2 on h100", "gemm @a-e4m3.npy @b-e5m2.safetensors:b --device h100 --a-format e4m3", words, [3, 2])
words = gemm(a, b, None, lambda x, y, z: fused_window(x, y, z, 16, 13, -132, 13))
remember("e4m3 x e5m2 on l40s", "gemm @a-e4m3.npy @b-e5m2.safetensors --device l40s --a-format e4m3", words, [3, 2])

# fp16 batch in a deflated .npz, big-endian and Fortran order.
a = np.asfortranarray(wide((2, 3, 24), np.float16)).astype(">f2")
b = wide((2, 24, 5), np.float16)
np.savez_compressed(out / "batch.npz", a=a, b=b)
words = [gemm(a[i].astype("<f2"), b[i], None, lambda x, y, z: fused_window(x, y, z, 8, 24, -132)) for i in range(2)]
remember("an fp16 batch on a100", "gemm @batch.npz:a @batch.npz:b --device a100", words, [2, 3, 5])

# fp32 cast to fp16, to nearest even, by NumPy; exact sums of four.
a, b = wide((2, 20), np.float32), wide((20, 2), np.float32)
np.save(out / "a-f32.npy", a)
np.save(out / "b-f64.npy", b.astype(np.float64))
words = gemm(a.astype(np.float16), b.astype(np.float16), None, lambda x, y, z: exact_sums(x, y, z, 4))
remember("fp32 and fp64 cast to fp16 on mi100", "gemm @a-f32.npy @b-f64.npy --device mi100 --a-format fp16", words, [2, 2])
words = gemm(a, b, None, lambda x, y, z: exact_sums(x, y, z, 1))
remember("fp32 on mi300x, one FMA a term", "gemm @a-f32.npy @b-f64.npy --b-format fp32 --device mi300x", words, [2, 2])

# Integers: int8 and int64 files.
a, b = rng.integers(-128, 128, (3, 40)).astype(np.int8), rng.integers(-128, 128, (40, 2))
np.save(out / "a-i8.npy", a)
np.save(out / "b-i64.npy", b)
words = (a.astype(np.int64) @ b).astype(np.int32).view(np.uint32)
remember("int8 and int64 on a100", "gemm @a-i8.npy @b-i64.npy --device a100 --b-format s8", words, [3, 2])

# Quantisers, by ml_dtypes' casts.
x = wide((4, 96), np.float32, 6)
x[0, :32] = 0
np.save(out / "x.npy", x)
LIMITS = {"mxfp8-e4m3": (ml_dtypes.float8_e4m3fn, 8, 448.0), "mxfp8-e5m2": (ml_dtypes.float8_e5m2, 15, 57344.0),
          "mxfp6-e2m3": (ml_dtypes.float6_e2m3fn, 2, 7.5), "mxfp6-e3m2": (ml_dtypes.float6_e3m2fn, 4, 28.0),
          "mxfp4": (ml_dtypes.float4_e2m1fn, 2, 6.0)}
BITS = {"mxfp8-e4m3": 3, "mxfp8-e5m2": 2, "mxfp6-e2m3": 3, "mxfp6-e3m2": 2, "mxfp4": 1}
quantised = {}
for kind, (dtype, top, limit) in LIMITS.items():
    amax = np.abs(x.reshape(4, 3, 32)).max(-1)
    log = np.floor(np.log2(np.where(amax == 0, 1, amax))).astype(int)
    ceil = np.ceil(np.log2(np.where(amax == 0, 1, amax))).astype(int)
    carried = (amax.view(np.uint32) + (1 << (23 - BITS[kind] - 1))) >> 23
    quotient = (amax / np.float32(limit)).astype(np.float32)
    for rule, e in {"floor": log - top, "ceil": ceil - top, "even": carried.astype(int) - 127 - top,
                    "rceil": np.ceil(np.log2(np.where(quotient == 0, 1, quotient).astype(np.float64))).astype(int)}.items():
        scales = np.where(amax == 0, 0, np.clip(e + 127, 0, 254)).astype(np.uint8)
        y = x.astype(np.float64).reshape(4, 3, 32) / 2.0 ** (scales.astype(float)[..., None] - 127)
        elements = np.clip(y, -limit, limit).astype(dtype).view(np.uint8)
        quantised[f"{kind} {rule}"] = {"elements": elements.tobytes().hex(), "scales": scales.tobytes().hex()}
tensor = np.float32(np.abs(x).max() / np.float32(448 * 6))
blocks = np.abs(x.reshape(4, 6, 16)).max(-1)
scales = np.clip((blocks / np.float32(6)).astype(np.float32) / tensor, 0, 448).astype(ml_dtypes.float8_e4m3fn)
total = (tensor * scales.astype(np.float32))[..., None]
y = np.divide(x.reshape(4, 6, 16), total, out=np.zeros((4, 6, 16), np.float32), where=total != 0)
elements = np.clip(y, -6, 6).astype(ml_dtypes.float4_e2m1fn).view(np.uint8)
quantised["nvfp4"] = {"elements": elements.tobytes().hex(), "scales": scales.view(np.uint8).tobytes().hex()}

(out / "expected.json").write_text(json.dumps({"gemm": expected, "quantised": quantised}))
