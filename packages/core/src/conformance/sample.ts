/** Element samplers: every word is put together from integer bits, no float takes part. */
import type { WordArray } from '../engine/engine.js';
import type { FloatFormat } from '../formats/format.js';
import { POW2 } from '../formats/round.js';
import { FORMATS, type FormatName } from '../formats/table.js';
import type { CaseRandom } from './prng.js';
import { usedBits } from './words.js';

/** The floating-point format of a name; other kinds have no exponent to sample. */
export function floatFormat(name: FormatName): FloatFormat | null {
  const format = FORMATS[name];
  return format.kind === 'float' ? format : null;
}

/** Largest exponent field of a finite number. */
const topField = (f: FloatFormat) => (1 << f.exponentBits) - (f.specials === 'ieee' ? 2 : 1);

/** Largest exponent of a finite number. */
export const topExponent = (f: FloatFormat) => topField(f) - f.bias;

/** Smallest exponent of a subnormal number's lowest bit. */
export const bottomExponent = (f: FloatFormat) => 1 - f.bias - f.fractionBits;

function putFields(
  f: FloatFormat,
  words: WordArray,
  index: number,
  negative: boolean,
  field: number,
  fraction: number,
) {
  const sign = negative && f.signed && !(f.specials === 'fnuz' && field === 0 && fraction === 0) ? 1 : 0;
  if (f.wordBits === 64) {
    words[2 * index] = fraction % 2 ** 32;
    words[2 * index + 1] = sign * 2 ** 31 + field * 2 ** 20 + Math.floor(fraction / 2 ** 32);
  } else {
    const word = (sign * POW2[f.exponentBits] + field) * POW2[f.fractionBits] + fraction;
    words[index] = word * POW2[f.droppedBits];
  }
}

/**
 * Stores (-1)^negative * significand * 2^lsb, rounded to nearest even; a magnitude above the largest finite number
 * becomes that number. significand: an integer below 2^53.
 */
export function putValue(
  format: FormatName,
  words: WordArray,
  index: number,
  negative: boolean,
  significand: number,
  lsb: number,
): void {
  const f = floatFormat(format)!;
  const w = f.fractionBits;
  if (significand === 0) {
    putFields(f, words, index, negative, 0, 0);
    return;
  }
  const lead = lsb + bitLength(significand) - 1;
  const e = Math.max(lead, 1 - f.bias);
  const shift = e - w - lsb;
  let kept: number;
  if (shift <= 0) kept = significand * POW2[-shift];
  else if (shift > 53) kept = 0;
  else {
    kept = Math.floor(significand / POW2[shift]);
    const rest = significand - kept * POW2[shift];
    const half = POW2[shift - 1];
    if (rest > half || (rest === half && kept % 2 === 1)) kept++;
  }
  const hidden = POW2[w];
  let field = kept < hidden ? 0 : e + f.bias;
  if (kept === 2 * hidden) {
    kept = hidden;
    field++;
  }
  let fraction = field === 0 ? kept : kept - hidden;
  const top = topField(f);
  const full = hidden - (f.specials === 'nan-only' ? 2 : 1);
  if (field > top || (field === top && fraction > full)) {
    field = top;
    fraction = full;
  }
  putFields(f, words, index, negative, field, fraction);
}

/** Bits of an integer 0 < n < 2^53. */
export const bitLength = (n: number): number =>
  n < 2 ** 32 ? 32 - Math.clz32(n) : 64 - Math.clz32(Math.floor(n / 2 ** 32));

/**
 * Exponent-mantissa sampling: s * 2^e, e uniform over low..high, s a uniform multiple of 2^-w in
 * [-(2 - 2^-w), 2 - 2^-w] (w fraction bits), which is the source's range with f = w + 1.
 */
export function exponentMantissa(
  format: FormatName,
  random: CaseRandom,
  low: number,
  high: number,
  words: WordArray,
  index: number,
): void {
  const w = floatFormat(format)!.fractionBits;
  const e = random.between(low, high);
  const negative = random.bits(1) === 1;
  putValue(format, words, index, negative, random.bits(w + 1), e - w);
}

/** Independent bits; for floats the exponent field is drawn again while the word is not finite. */
export function independentBits(
  format: FormatName,
  random: CaseRandom,
  words: WordArray,
  index: number,
  finite = true,
): void {
  const f = floatFormat(format);
  if (!f) {
    words[index] = random.bits(usedBits(format));
    return;
  }
  const negative = random.bits(1) === 1;
  const fraction = random.bits(f.fractionBits);
  let field = random.bits(f.exponentBits);
  if (finite) while (!finiteWord(f, negative, field, fraction)) field = random.bits(f.exponentBits);
  const sign = negative && f.signed;
  if (!finite && f.specials === 'fnuz' && sign && field === 0 && fraction === 0) words[index] = 0x80;
  else putFields(f, words, index, negative, field, fraction);
  if (f.droppedBits > 0) words[index] = words[index] + random.bits(f.droppedBits);
}

function finiteWord(f: FloatFormat, negative: boolean, field: number, fraction: number): boolean {
  switch (f.specials) {
    case 'ieee':
      return field !== 2 ** f.exponentBits - 1;
    case 'nan-only':
      return !(field === 2 ** f.exponentBits - 1 && fraction === 2 ** f.fractionBits - 1);
    case 'fnuz':
      return !(negative && field === 0 && fraction === 0);
    case 'none':
      return true;
  }
}

/**
 * A cast of a standard normal number: the sum of twelve uniform integers less its mean, in units of their range
 * (Irwin-Hall), rounded to the format. The integers have 16 bits where that is finer than the format, else 32.
 */
export function normalCast(format: FormatName, random: CaseRandom, words: WordArray, index: number): void {
  const wide = floatFormat(format)!.fractionBits > 10;
  let sum = 0;
  if (wide) for (let i = 0; i < 12; i++) sum += random.word();
  else
    for (let i = 0; i < 6; i++) {
      const word = random.word();
      sum += (word & 0xffff) + (word >>> 16);
    }
  const bits = wide ? 32 : 16;
  const centred = sum - 6 * 2 ** bits;
  putValue(format, words, index, centred < 0, Math.abs(centred), -bits);
}

/** Zeros, the ends of the subnormal and normal ranges, one and its neighbours, infinities and NaNs of a format. */
export function specialFields(f: FloatFormat): readonly (readonly [boolean, number, number])[] {
  const ones = 2 ** f.exponentBits - 1;
  const full = 2 ** f.fractionBits - 1;
  const magnitudes: [number, number][] = [
    [0, 0],
    [0, 1],
    [0, full],
    [1, 0],
    [f.bias, 0],
    [f.bias, 1],
    [f.bias - 1, full],
    [topField(f), f.specials === 'nan-only' ? full - 1 : full],
  ];
  if (f.specials === 'ieee')
    magnitudes.push([ones, 0], [ones, 1], [ones, full], [ones, 2 ** (f.fractionBits - 1)]);
  if (f.specials === 'nan-only') magnitudes.push([ones, full]);
  return magnitudes.flatMap(([x, m]) => [[false, x, m] as const, [true, x, m] as const]);
}

/** One of the format's special words, else a normal cast. */
export function specialOr(
  format: FormatName,
  random: CaseRandom,
  oneIn: number,
  words: WordArray,
  index: number,
) {
  const f = floatFormat(format);
  if (!f) {
    independentBits(format, random, words, index);
    return;
  }
  if (!random.oneIn(oneIn)) {
    normalCast(format, random, words, index);
    return;
  }
  const [negative, field, fraction] = random.pick(specialFields(f));
  if (f.specials === 'fnuz' && negative && field === 0 && fraction === 0) words[index] = 0x80;
  else putFields(f, words, index, negative, field, fraction);
  if (f.droppedBits > 0 && random.oneIn(2)) words[index] = words[index] + random.bits(f.droppedBits);
}
