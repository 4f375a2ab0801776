/** The words of targeted vectors: inputs and stated results as sums of powers of two, encoded exactly. */
import type { Predicate } from '../../src/conformance/predicates.js';
import type { VectorRecord } from '../../src/conformance/vector.js';
import { findOp } from '../../src/datapath/aliases/op.js';
import type { MmaOp } from '../../src/datapath/op.js';
import { maxExponent, maxSignificand, minExponent } from '../../src/formats/element.js';
import { encode, encodeInfinity, encodeMax, encodeNaN } from '../../src/formats/encode.js';
import type { FloatFormat } from '../../src/formats/format.js';
import { FORMATS, type FormatName } from '../../src/formats/table.js';
import { wordToHex } from '../../src/formats/words.js';

/** n * 2^e, exact. */
export interface Dyadic {
  readonly n: bigint;
  readonly e: number;
}

/** A value, a name of a special one, or a word in hex. */
export type Value = Dyadic | 'inf' | '-inf' | 'nan' | 'max' | '-max' | { readonly word: string };

/** One product term: its value, split by the rule of `split`, or both factors. */
export type Product = Dyadic | { readonly a: Value; readonly b: Value };

export const ZERO: Dyadic = { n: 0n, e: 0 };

/** 2^e. */
export const two = (e: number): Dyadic => ({ n: 1n, e });

export const ONE = two(0);

/** Exact sum. */
export function sum(...values: readonly Dyadic[]): Dyadic {
  const e = Math.min(...values.map((value) => value.e));
  return { n: values.reduce((total, value) => total + (value.n << BigInt(value.e - e)), 0n), e };
}

export const neg = ({ n, e }: Dyadic): Dyadic => ({ n: -n, e });

/** The value times 2^by. */
export const scale = ({ n, e }: Dyadic, by: number): Dyadic => ({ n, e: e + by });

/** s * value for a sign s. */
export const signed = (s: 1 | -1, value: Dyadic): Dyadic => (s === 1 ? value : neg(value));

/** 2^-from + 2^-(from+1) + ... + 2^-to; zero where to < from. */
export const ones = (from: number, to: number): Dyadic =>
  to < from ? ZERO : { n: (1n << BigInt(to - from + 1)) - 1n, e: -to };

export const SIGNS = [1, -1] as const;
export const signName = (s: 1 | -1): string => (s === 1 ? 'pos' : 'neg');

/** Every order of the values; orders that look alike are kept once. */
export function permutations<T>(values: readonly T[]): T[][] {
  const all = (rest: readonly T[]): T[][] =>
    rest.length <= 1
      ? [[...rest]]
      : rest.flatMap((value, i) =>
          all([...rest.slice(0, i), ...rest.slice(i + 1)]).map((tail) => [value, ...tail]),
        );
  const text = (value: unknown) => JSON.stringify(value, (_, x) => (typeof x === 'bigint' ? `${x}n` : x));
  const seen = new Set<string>();
  return all(values).filter((order) => {
    const key = text(order);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

const floatOf = (name: FormatName): FloatFormat => {
  const format = FORMATS[name];
  if (format.kind !== 'float') throw new RangeError(`${name} is not a floating-point format`);
  return format;
};

/** Hex word of a value in a format. Throws RangeError where the format does not hold it. */
export function hexOf(name: FormatName, value: Value): string {
  const format = FORMATS[name];
  const { wordBits } = format;
  if (typeof value === 'object' && 'word' in value) return value.word.padStart(wordBits / 4, '0');
  if (format.kind === 'integer') {
    if (typeof value === 'string' || value.e < 0) throw new RangeError(`${name} does not hold the value`);
    return wordToHex(BigInt.asUintN(wordBits, value.n << BigInt(value.e)), wordBits);
  }
  const float = floatOf(name);
  switch (value) {
    case 'inf':
    case '-inf':
      return wordToHex(encodeInfinity(float, value === '-inf'), wordBits);
    case 'nan':
      return wordToHex(encodeNaN(float), wordBits);
    case 'max':
    case '-max':
      return wordToHex(encodeMax(float, value === '-max'), wordBits);
  }
  const negative = value.n < 0n;
  return wordToHex(encode(float, negative, negative ? -value.n : value.n, value.e), wordBits);
}

/** Whether a format has a word for an odd n times 2^e, and whether as a normal number. */
function held(name: FormatName, { n, e }: Dyadic): 'normal' | 'subnormal' | null {
  const format = floatOf(name);
  const magnitude = n < 0n ? -n : n;
  const lead = e + bitLength(magnitude) - 1;
  const least = minExponent(format);
  if (lead < least) return e >= least - format.fractionBits ? 'subnormal' : null;
  if (lead - e > format.fractionBits || lead > maxExponent(format)) return null;
  const full = magnitude << BigInt(format.fractionBits - (lead - e));
  return lead === maxExponent(format) && full > BigInt(maxSignificand(format)) ? null : 'normal';
}

const bitLength = (n: bigint) => n.toString(2).length;

/** Pairs x * y = n whose factors fit the significands of a and b; (n, 1) and (1, n) first. */
function factors(op: MmaOp, n: bigint): [bigint, bigint][] {
  const limitA = 1n << BigInt(floatOf(op.a).fractionBits + 1);
  const limitB = 1n << BigInt(floatOf(op.b).fractionBits + 1);
  const pairs: [bigint, bigint][] = [];
  if (n < limitA) pairs.push([n, 1n]);
  if (n < limitB) pairs.push([1n, n]);
  if (pairs.length === 0)
    for (let x = 3n; x < limitA && x < 4096n && x * x <= n; x += 2n)
      if (n % x === 0n && n / x < limitB) pairs.push([x, n / x]);
  return pairs;
}

const memo = new Map<string, { a: Dyadic; b: Dyadic } | null>();

/**
 * The factors of a product: value * 1 where a holds the value as a normal number; else two normal numbers of
 * exponents as near each other as may be; else with subnormal ones. null: no two words have this product.
 */
export function split(target: MmaOp, value: Dyadic): { a: Dyadic; b: Dyadic } | null {
  if (value.n === 0n) return { a: ZERO, b: ZERO };
  const key = `${target.a} ${target.b} ${value.n} ${value.e}`;
  let found = memo.get(key);
  if (found === undefined) {
    found = search(target, value);
    memo.set(key, found);
  }
  return found;
}

function search(target: MmaOp, value: Dyadic): { a: Dyadic; b: Dyadic } | null {
  let { n, e } = value;
  while (n % 2n === 0n) {
    n /= 2n;
    e++;
  }
  if (held(target.a, { n, e }) === 'normal') return { a: { n, e }, b: ONE };
  const sign = n < 0n ? -1n : 1n;
  const fa = floatOf(target.a);
  const low = minExponent(fa) - fa.fractionBits;
  let best: { a: Dyadic; b: Dyadic; cost: number } | null = null;
  for (const [x, y] of factors(target, n * sign))
    for (let ea = low; ea <= maxExponent(fa); ea++) {
      const a = { n: x * sign, e: ea };
      const b = { n: y, e: e - ea };
      const [ha, hb] = [held(target.a, a), held(target.b, b)];
      if (!ha || !hb) continue;
      const subnormal = (ha === 'normal' ? 0 : 1) + (hb === 'normal' ? 0 : 1);
      const cost = subnormal * 1000 + Math.abs(ea + bitLength(x) - (e - ea + bitLength(y)));
      if (!best || cost < best.cost) best = { a, b, cost };
    }
  return best;
}

/** Parts of a value, one a lane, whose products exist and whose sum is the value; null: the lanes do not hold it. */
export function spread(op: MmaOp, value: Dyadic, lanes: number): Dyadic[] | null {
  if (value.n === 0n || split(op, value)) return [value];
  if (lanes === 1) return null;
  const magnitude = value.n < 0n ? -value.n : value.n;
  const bits = bitLength(magnitude);
  for (let high = bits - 1; high >= 1; high--) {
    const low = BigInt(bits - high);
    const top = { n: (magnitude >> low) * (value.n < 0n ? -1n : 1n), e: value.e + Number(low) };
    if (!split(op, top)) continue;
    const rest = spread(op, sum(value, neg(top)), lanes - 1);
    if (rest) return [top, ...rest];
  }
  return null;
}

export interface Case {
  readonly id: string;
  /** Products by position, 1 the first, as the papers count. */
  readonly p?: Readonly<Record<number, Product>>;
  readonly c?: Value;
  readonly d: Value;
  readonly note: string;
  /** Hard cases that the vector shows. */
  readonly claims?: readonly Predicate[];
  readonly evidence?: 'published' | 'derived';
  readonly scaleA?: readonly string[];
  readonly scaleB?: readonly string[];
  readonly sparse?: readonly string[];
}

export const op = (device: string, instruction: string): MmaOp => findOp(device, instruction);

/** Whether every product of a case has factors in the op's formats, and c and d have words. */
export function encodable(target: MmaOp, { p = {}, c = ZERO, d }: Pick<Case, 'p' | 'c' | 'd'>): boolean {
  for (const [position, term] of Object.entries(p)) {
    if (Number(position) > target.k) return false;
    if ('n' in term && !split(target, term)) return false;
  }
  return [[target.c, c] as const, [target.d, d] as const].every(([format, value]) => {
    try {
      hexOf(format, value);
      return true;
    } catch {
      return false;
    }
  });
}

/** The vector of a case. Throws RangeError naming the case where something has no words. */
export function vector(target: MmaOp, given: Case): VectorRecord {
  const { id, p = {}, c = ZERO, d, note, evidence = 'published', claims, scaleA, scaleB, sparse } = given;
  try {
    const a: string[] = [];
    const b: string[] = [];
    for (let i = 1; i <= target.k; i++) {
      const term = p[i] ?? ZERO;
      const pair = 'a' in term ? term : split(target, term);
      if (!pair) throw new RangeError(`p${i} has no factors in ${target.a} and ${target.b}`);
      a.push(hexOf(target.a, pair.a));
      b.push(hexOf(target.b, pair.b));
    }
    if (Object.keys(p).some((position) => Number(position) > target.k))
      throw new RangeError(`a position lies beyond K = ${target.k}`);
    return {
      id,
      device: target.device,
      instruction: target.instruction,
      a: a.join(' '),
      b: b.join(' '),
      c: hexOf(target.c, c),
      d: hexOf(target.d, d),
      ...(scaleA ? { scaleA: scaleA.join(' ') } : {}),
      ...(scaleB ? { scaleB: scaleB.join(' ') } : {}),
      ...(sparse ? { sparse } : {}),
      ...(claims ? { claims } : {}),
      evidence,
      note,
    };
  } catch (error) {
    throw new RangeError(`${target.instruction} ${id}: ${(error as Error).message}`, { cause: error });
  }
}

/** Result words of NaN. AMD: the sign is published, the payload derived. */
export const AMD_NAN: Value = { word: 'ffc00000' };
export const NVIDIA_NAN: Value = { word: '7fffffff' };

/** A vector file: path under vectors/, what it is, its lines. */
export interface TargetedFile {
  readonly path: string;
  readonly source: string;
  readonly vectors: readonly VectorRecord[];
}
