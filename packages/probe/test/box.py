"""A foreign black box: answers vectors over a pipe, exact rationals, one line in, one line out."""
import json
import sys
from fractions import Fraction

N, F, TWIST = int(sys.argv[1]), int(sys.argv[2]), len(sys.argv) > 3


def decode(word, e_bits, f_bits):
    sign = -1 if word >> (e_bits + f_bits) else 1
    x, m = (word >> f_bits) & (2**e_bits - 1), word & (2**f_bits - 1)
    bias = 2 ** (e_bits - 1) - 1
    if x == 2**e_bits - 1:
        return ("nan" if m else "inf"), sign, 0
    return Fraction(sign * (m + (2**f_bits if x else 0))) * Fraction(2) ** (max(x, 1) - bias - f_bits), sign, max(x, 1) - bias


def fp32(v):
    """Toward zero."""
    if v == 0:
        return 0
    sign, v, e = (1 << 31 if v < 0 else 0), abs(v), -126
    while v >= Fraction(2) ** (e + 1):
        e += 1
    if e > 127:
        return sign | 0x7F800000
    m = int(v / Fraction(2) ** (e - 23))
    return (sign | (m + ((e + 126) << 23) if m >= 1 << 23 else sign | m)) if m else 0


def block(pairs, word):
    terms, infinite = [], set()
    for x, y in pairs + [(decode(word, 8, 23), (Fraction(1), 1, 0))]:
        sign = x[1] * y[1]
        if "nan" in (x[0], y[0]) or ("inf" in (x[0], y[0]) and 0 in (x[0], y[0])):
            return 0x7FFFFFFF
        if "inf" in (x[0], y[0]):
            infinite.add(sign)
        elif x[0] * y[0] != 0:
            terms.append((x[0] * y[0], x[2] + y[2]))
    if infinite:
        return 0x7FFFFFFF if len(infinite) == 2 else 0x7F800000 if 1 in infinite else 0xFF800000
    if not terms:
        return 0
    unit = Fraction(2) ** (max(e for _, e in terms) - F)
    total = sum((int(v / unit) for v, _ in terms), 0) * unit
    if TWIST and len(terms) == 3 and total > 4096:
        total += 4 * unit * 2**F / 4096
    return fp32(total)


for line in sys.stdin:
    v = json.loads(line)
    a = [decode(int(w, 16), 5, 10) for w in v["a"].split()]
    b = [decode(int(w, 16), 5, 10) for w in v["b"].split()]
    d = int(v["c"], 16)
    for k in range(0, len(a), N):
        d = block(list(zip(a, b))[k : k + N], d)
    print(json.dumps({"id": v["id"], "d": f"{d:08x}"}), flush=True)
