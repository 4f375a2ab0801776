import type { MmaOp, ScaledGroups } from '@bitmma/core';
import { fixedPoint, scaleFunctions } from '../scales.js';
import { positionFunction, rowFunction, SPECIAL, type StepSource, termLoop } from '../step.js';
import { CODE_BIAS, decodeFunction, NONZERO_SUM } from '../wgsl/decode.js';
import { layoutOf, roundFunction, wordFunctions } from '../wgsl/round.js';
import { scaleFunction, WIDE } from '../wgsl/wide.js';
import { exponentPass } from '../window.js';
import { NO_PRODUCT } from './scaled-window.js';

const SIGNED = (v: string): string => `(vec4i(${v} << vec4u(17u)) >> vec4u(17u))`;

/**
 * Numerics 6, mxf4 and mxf4nvf4: exact sums of groups of products, in fixed point (e2m1 counts halves), times the
 * scales' significands, cut to one quantum.
 */
export function scaledGroups(op: MmaOp, datapath: ScaledGroups): StepSource {
  const scaling = op.scaling!;
  const size = scaling.block;
  const blocks = op.k / size;
  const unit = Math.min(datapath.group, datapath.dominantGroup);
  const lsb = fixedPoint(op.a)!.unit + fixedPoint(op.b)!.unit;
  const coarse =
    datapath.groupAddendFraction === null
      ? 'vec4i(0)'
      : `select(vec4i(0), max(ec - vec4i(${datapath.groupAddendFraction}) - q, vec4i(0)), present & !dominant & (ec >= vec4i(most >> vec4u(16u)) - vec4i(${2 * CODE_BIAS}) + se))`;
  const { fraction, emin } = layoutOf(datapath.output.format);
  const leaveOut =
    datapath.leaveOut === null
      ? ''
      : `if (wordZero(c) && q < ${datapath.leaveOut} && !wordZero(word) && wordMagnitude(word) < ${2 ** fraction}u) {
    let fewer = remaining(base, block, row, lane, q, s);
    return roundOutput(negative64(fewer), magnitude64(fewer), q);
  }`;
  const remaining =
    datapath.leaveOut === null
      ? ''
      : `fn remaining(start: u32, block: u32, row: u32, lane: u32, q: i32, s: i32) -> vec2u {
  var sum = vec2u(0u, 0u);
  for (var first = 0u; first < ${op.k}u; first += ${datapath.group}u) {
    let base = start;
    let sa = rowOf(scaleA(block + first / ${size}u), row);
    let sb = scaleB(block + first / ${size}u);
    let se = (scaleExponent(sa) + scaleExponent(sb))[lane];
    var g = 0; 
    ${termLoop('first', `first + ${datapath.group}u`, '0u', `g += (${SIGNED('rowOf(va, row)')} * ${SIGNED('vb')})[lane];`)}
    let cut = groupTerm(g * (scaleSig(sa) * scaleSig(sb))[lane], ${lsb} + se - SCALE_FRACTION - q, 0);
    let m = magnitude64(cut);
    if (se < s && (isZero64(m) || lead64(m) + q < ${datapath.leaveOut})) { continue; }
    sum = add64(sum, cut);
  }
  return sum;
}
`;
  return {
    length: op.k,
    together: false,
    functions: `${WIDE}${wordFunctions(datapath.output)}${positionFunction(null)}${SPECIAL}${scaleFunctions(scaling)}
${decodeFunction('decodeA', { format: op.a, prescale: 0, fixed: true })}
${decodeFunction('decodeB', { format: op.b, prescale: 0, fixed: true })}
${scaleFunction('alignTerm', 'RZ')}
${roundFunction('roundOutput', datapath.output)}
fn groupTerm(total: i32, shift: i32, coarse: i32) -> vec2u {
  if (total == 0) { return vec2u(0u, 0u); }
  return shl64(alignTerm(extend64(total), shift - coarse), u32(coarse));
}
${remaining}
fn finishGroups(low: u32, high: u32, r: i32, s: i32, q: i32, classes: u32, c: u32, base: u32, block: u32, row: u32, lane: u32) -> u32 {
  let all = withAddend(classes, c);
  if (all != 0u) { return specialWord(all); }
  if (r == ${NO_PRODUCT}) { return c; }
  let total = add64(vec2u(low, high), alignTerm(wordSigned(c), wordExponent(c) - WORD_FRACTION - q));
  let word = roundOutput(negative64(total), magnitude64(total), q);
  ${leaveOut}
  return word;
}
${rowFunction('finishGroups', ['u32', 'u32', 'i32', 'i32', 'i32', 'u32', 'u32'], ['base', 'block', 'row'])}`,
    step: (rows) =>
      rows.indices
        .map(
          (i) => `let outer = base;
    let block = start / ${size}u;
    var r = vec4i(${NO_PRODUCT}); var s = vec4i(${NO_PRODUCT}); var classes = vec4u(0u);
    for (var b = 0u; b < ${blocks}u; b++) {
      let base = outer + b * ${size}u;
      let sa = ${rows.a(i, `scaleA(block + b)`)};
      let sb = scaleB(block + b);
      ${exponentPass({ ...rows, indices: [i] }, size, '0u')}
      classes |= x${i} | select(vec4u(0u), vec4u(1u), scaleNan(sa) | scaleNan(sb));
      let se = scaleExponent(sa) + scaleExponent(sb);
      let some = (p${i} >= vec4u(${NONZERO_SUM}u)) & (scaleSig(sa) * scaleSig(sb) != vec4i(0));
      r = max(r, select(vec4i(${NO_PRODUCT}), vec4i(p${i}) - vec4i(${2 * CODE_BIAS}) + se, some));
      s = max(s, select(vec4i(${NO_PRODUCT}), se, some));
    }
    let ec = vec4i(max((acc${i} & vec4u(~WORD_SIGN)) >> vec4u(u32(WORD_FRACTION)), vec4u(1u))) + vec4i(${emin - 1});
    let present = (acc${i} & vec4u(~WORD_SIGN)) != vec4u(0u);
    let dominant = present & (ec >= r);
    let q = select(
      max(max(r, select(vec4i(${NO_PRODUCT}), ec, present)) - vec4i(${datapath.productFraction}), s - vec4i(${datapath.scaleFraction})),
      ec - vec4i(${datapath.dominantFraction}), dominant);
    var low = vec4u(0u); var high = vec4u(0u);
    for (var b = 0u; b < ${blocks}u; b++) {
      let base = outer + b * ${size}u;
      let sa = ${rows.a(i, `scaleA(block + b)`)};
      let sb = scaleB(block + b);
      let se = scaleExponent(sa) + scaleExponent(sb);
      let ss = scaleSig(sa) * scaleSig(sb);
      let shift = se - vec4i(SCALE_FRACTION) + vec4i(${lsb}) - q;
      var g = vec4i(0); var most = vec4u(0u);
      for (var first = 0u; first < ${size}u; first += ${unit}u) {
        ${termLoop(
          'first',
          `first + ${unit}u`,
          '0u',
          `let a = ${rows.a(i)};
        g += ${SIGNED('a')} * ${SIGNED('vb')};
        most = max(most, a + vb);`,
        )}
        let done = select(vec4<bool>((first + ${unit}u) % ${datapath.group}u == 0u), vec4<bool>((first + ${unit}u) % ${datapath.dominantGroup}u == 0u), dominant);
        let coarse = ${coarse};
        for (var lane = 0u; lane < 4u; lane++) {
          if (!done[lane]) { continue; }
          let t = add64(vec2u(low[lane], high[lane]), groupTerm(g[lane] * ss[lane], shift[lane], coarse[lane]));
          low[lane] = t.x; high[lane] = t.y;
        }
        g = select(g, vec4i(0), done);
        most = select(most, vec4u(0u), done);
      }
    }
    acc${i} = finishGroupsRow(low, high, r, s, q, classes, acc${i}, outer, block, ${rows.row(i)});`,
        )
        .join('\n'),
  };
}

/** Why this engine cannot run it, or null. */
export function scaledGroupsLimit(op: MmaOp, datapath: ScaledGroups): string | null {
  const a = fixedPoint(op.a);
  const b = fixedPoint(op.b);
  if (op.scaling === null || a === null || b === null)
    return 'scaled groups take floating-point operands with scales';
  const size = op.scaling.block;
  const [small, large] = [datapath.group, datapath.dominantGroup].toSorted((x, y) => x - y) as [
    number,
    number,
  ];
  if (op.k % size !== 0) return `K = ${op.k} is not a multiple of the scale block ${size}`;
  if (size % large !== 0 || large % small !== 0)
    return `groups of ${datapath.group} and ${datapath.dominantGroup} do not tile a scale block of ${size}`;
  const scales = op.scaling.format === 'ue4m3' ? 225 : 1;
  if (Math.max(a.max, b.max) >= 2 ** 14)
    return `${op.a} by ${op.b} products are too wide for exact 32-bit group sums`;
  if (a.max * b.max * large * scales >= 2 ** 31) return `${op.a} by ${op.b} group sums exceed 31 bits`;
  return null;
}
