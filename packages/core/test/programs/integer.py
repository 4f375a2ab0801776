"""Reads vectors without d, answers with d: sums of 8-bit products modulo 2^32."""
import json
import re
import sys


def byte(text, signed):
    value = int(text, 16)
    return value - 256 if signed and value > 127 else value


for line in sys.stdin:
    vector = json.loads(line)
    left, right = re.search(r"s32\.([su])8\.([su])8", vector["instruction"]).groups()
    total = int(vector["c"], 16) + sum(
        byte(a, left == "s") * byte(b, right == "s")
        for a, b in zip(vector["a"].split(), vector["b"].split())
    )
    vector["d"] = format(total & 0xFFFFFFFF, "08x")
    print(json.dumps(vector), flush=True)
