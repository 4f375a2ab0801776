import type { Rounding } from '../datapath/datapath.js';
import type { Element, Word } from '../formats/element.js';
import { encode, encodeInfinity } from '../formats/encode.js';
import type { FloatFormat } from '../formats/format.js';
import { round } from '../formats/round.js';

/** An IEEE operation's setting: result format, rounding, the word of a NaN, and flushing of subnormal results. */
export interface IeeeContext {
  readonly format: FloatFormat;
  readonly rounding: Rounding;
  readonly nan: Word;
  readonly flush: boolean;
  readonly precision: number;
}

const zero = (format: FloatFormat, negative: boolean): Word => encode(format, negative, 0n, 0);

const isZero = (x: Element): boolean => x.kind === 'finite' && x.sig === 0;

/** x * y + z with one rounding; IEEE rules for NaN, Inf and the sign of zero. */
export function fma(x: Element, y: Element, z: Element, context: IeeeContext): Word {
  const { format } = context;
  if (x.kind === 'nan' || y.kind === 'nan' || z.kind === 'nan') return context.nan;
  const negative = x.negative !== y.negative;
  if (x.kind === 'inf' || y.kind === 'inf') {
    if (isZero(x) || isZero(y) || (z.kind === 'inf' && z.negative !== negative)) return context.nan;
    return encodeInfinity(format, negative);
  }
  if (z.kind === 'inf') return encodeInfinity(format, z.negative);
  const product = BigInt(x.signed) * BigInt(y.signed);
  return addFinite(product, x.lsb + y.lsb, negative, BigInt(z.signed), z.lsb, z.negative, context);
}

/** x + y. */
export function add(x: Element, y: Element, context: IeeeContext): Word {
  if (x.kind === 'nan' || y.kind === 'nan') return context.nan;
  if (x.kind === 'inf' && y.kind === 'inf' && x.negative !== y.negative) return context.nan;
  if (x.kind === 'inf') return encodeInfinity(context.format, x.negative);
  if (y.kind === 'inf') return encodeInfinity(context.format, y.negative);
  return addFinite(BigInt(x.signed), x.lsb, x.negative, BigInt(y.signed), y.lsb, y.negative, context);
}

/** x * y. */
export function multiply(x: Element, y: Element, context: IeeeContext): Word {
  if (x.kind === 'nan' || y.kind === 'nan') return context.nan;
  const negative = x.negative !== y.negative;
  if (x.kind === 'inf' || y.kind === 'inf')
    return isZero(x) || isZero(y) ? context.nan : encodeInfinity(context.format, negative);
  if (isZero(x) || isZero(y)) return zero(context.format, negative);
  return finish(BigInt(x.signed) * BigInt(y.signed), x.lsb + y.lsb, context);
}

/** The sign of a zero sum: that of two like-signed zeros, else + (- under RD). */
function addFinite(
  x: bigint,
  xLsb: number,
  xNegative: boolean,
  y: bigint,
  yLsb: number,
  yNegative: boolean,
  context: IeeeContext,
): Word {
  const lsb = x === 0n ? yLsb : y === 0n ? xLsb : Math.min(xLsb, yLsb);
  const sum = (x === 0n ? 0n : x << BigInt(xLsb - lsb)) + (y === 0n ? 0n : y << BigInt(yLsb - lsb));
  if (sum !== 0n) return finish(sum, lsb, context);
  const bothZero = x === 0n && y === 0n;
  const negative = bothZero && xNegative === yNegative ? xNegative : context.rounding === 'RD';
  return zero(context.format, negative);
}

function finish(signed: bigint, lsb: number, context: IeeeContext): Word {
  const word = round(signed, lsb, context.format, context.rounding, { precision: context.precision });
  if (!context.flush) return word;
  const magnitude = BigInt(word) & ((1n << BigInt(context.format.wordBits - 1)) - 1n);
  return magnitude >> BigInt(context.format.fractionBits) === 0n ? zero(context.format, signed < 0n) : word;
}
