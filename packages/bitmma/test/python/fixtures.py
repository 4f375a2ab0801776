"""Writes the fixture files with NumPy, ml_dtypes and safetensors themselves, and what each must read as."""
import json
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
from safetensors import TensorSpec, serialize_file
from safetensors.numpy import save_file

out = Path(sys.argv[1])
out.mkdir(parents=True, exist_ok=True)
rng = np.random.default_rng(20250101)
expected = {}


def words(array):
    """Element words in C order, as little-endian hex."""
    plain = np.ascontiguousarray(array)
    order = ">" if plain.dtype.byteorder == ">" else "<"
    return plain.view(f"{order}u{plain.dtype.itemsize}").astype(f"<u{plain.dtype.itemsize}").tobytes().hex()


def remember(name, array, dtype):
    expected[name] = {"shape": list(array.shape), "words": words(array), "bits": array.dtype.itemsize * 8, "dtype": dtype}


def random(shape, dtype):
    bits = rng.integers(0, 256, size=(*shape[:-1], shape[-1] * np.dtype(dtype).itemsize), dtype=np.uint8)
    return bits.view(dtype)


for code in ["f2", "f4", "f8", "u1", "u2", "u4", "i1", "i4", "i8"]:
    for endian in "<>":
        for order in "CF":
            array = np.asarray(random((3, 5), f"{endian}{code}"), order=order)
            name = f"{'le' if endian == '<' else 'be'}-{order}-{code}.npy"
            np.save(out / name, array)
            remember(name, array, code)

for name in ["bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu",
             "float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn"]:
    dtype = getattr(ml_dtypes, name)
    array = np.arange(-6, 6).reshape(3, 4).astype(np.float32).clip(0.5 if name == "float8_e8m0fnu" else None).astype(dtype)
    np.save(out / f"{name}.npy", array)
    expected[f"{name}.npy"] = {"shape": [3, 4], "words": words(array.view(f"u{dtype(0).nbytes}")), "bits": dtype(0).nbytes * 8,
                               "dtype": None}

batch = random((2, 3, 4), "<f4")
for name, array in [("scalar", np.array(1.5, "<f4")), ("vector", random((7,), "<f4")), ("batch", batch),
                    ("empty", np.zeros((0, 4), "<f4")), ("batch-F", np.asfortranarray(batch))]:
    np.save(out / f"{name}.npy", array)
    remember(f"{name}.npy", array, "f4")

with open(out / "version2.npy", "wb") as file:
    np.lib.format.write_array(file, batch, version=(2, 0))
remember("version2.npy", batch, "f4")
with open(out / "version3.npy", "wb") as file:
    np.lib.format.write_array(file, batch, version=(3, 0))
remember("version3.npy", batch, "f4")

big = random((300, 200), "<f4")
np.savez(out / "stored.npz", left=batch, right=big)
np.savez_compressed(out / "deflated.npz", left=batch, right=big)
for kind in ["stored", "deflated"]:
    remember(f"{kind}.npz:left", batch, "f4")
    remember(f"{kind}.npz:right", big, "f4")
np.savez(out / "single.npz", only=batch)
remember("single.npz", batch, "f4")

plain = {
    "f64": random((2, 3), "<f8"), "f32": random((2, 3), "<f4"), "f16": random((2, 3), "<f2"), "i8": random((2, 3), "i1"),
    "u8": random((2, 3), "u1"), "i32": random((2, 3), "<i4"), "i64": random((2, 3), "<i8"),
    "bf16": np.arange(6).reshape(2, 3).astype(ml_dtypes.bfloat16),
    "e4m3": np.arange(6).reshape(2, 3).astype(ml_dtypes.float8_e4m3fn),
    "e5m2": np.arange(6).reshape(2, 3).astype(ml_dtypes.float8_e5m2),
}
save_file(plain, out / "tensors.safetensors", metadata={"format": "np"})
for name, array in plain.items():
    remember(f"tensors.safetensors:{name}", array.view(f"u{array.dtype.itemsize}"), name.upper())

# safetensors.numpy has no names for these two; the library itself writes them.
e8m0 = np.array([[126, 127, 128], [0, 254, 255]], np.uint8)
nibbles = np.array([[1, 2, 3, 15], [7, 8, 9, 0]], np.uint8)
packed = (nibbles[:, 0::2] | nibbles[:, 1::2] << 4).astype(np.uint8)
specs = {"scale": TensorSpec(dtype="float8_e8m0fnu", shape=[2, 3], data_ptr=e8m0.ctypes.data, data_len=6),
         "fp4": TensorSpec(dtype="float4_e2m1fn_x2", shape=[2, 2], data_ptr=packed.ctypes.data, data_len=4)}
serialize_file(specs, str(out / "narrow.safetensors"))
remember("narrow.safetensors:scale", e8m0, "F8_E8M0")
remember("narrow.safetensors:fp4", nibbles, "F4")

np.save(out / "object.npy", np.array([{"a": 1}, None], dtype=object), allow_pickle=True)
np.save(out / "structured.npy", np.zeros(3, dtype=[("x", "<f4"), ("y", "<i4")]))
np.save(out / "complex.npy", np.zeros(3, np.complex64))

(out / "expected.json").write_text(json.dumps(expected))
