import { describeDatapath } from '../describe.js';
import type { GemmResult } from '../gemm/gemm.js';
import type { CastNote } from '../gemm/operand.js';
import type { ErrorStatistics } from '../gemm/statistics.js';
import { brief, engineering } from '../table.js';

/** The report of a GEMM for people. */
export function gemmText(result: GemmResult, written: readonly string[]): string {
  const { op, error, specials } = result;
  const lines: [string, string][] = [
    ['instruction', `${op.instruction} (${describeDatapath(op)})`],
    ['evidence', [op.evidence.level, op.evidence.source, op.evidence.note].filter(Boolean).join('; ')],
    ...result.casts.map((cast): [string, string] => [`cast ${cast.operand}`, castText(cast)]),
    [
      'engine',
      `${result.engine} (${result.kernel}), ${result.seconds.toPrecision(3)} s, ${engineering(result.macs)} multiply-adds, ` +
        `${engineering(result.macs / result.seconds)}/s`,
    ],
    ...(error === null ? [] : errorLines(error)),
    [
      'words',
      `${specials.nan} NaN, ${specials.infinite} Inf, ${specials.saturated} saturated, ${specials.zero} zero`,
    ],
    ['sha256', result.sha256],
    ...written.map((file): [string, string] => ['written', file]),
  ];
  const title = `D = A x B on ${op.device}: ${result.shape.join(' x ')} of ${result.format}, K = ${result.k}`;
  return `${title}\n${lines.map(([key, value]) => `  ${key.padEnd(12)} ${value}\n`).join('')}`;
}

const castText = ({ from, to, rounding, saturate, changed, overflowed }: CastNote): string =>
  `${from} to ${to}, ${rounding}${saturate ? ', saturating' : ''}: ${changed} values changed, ${overflowed} beyond its range`;

function errorLines(error: ErrorStatistics): [string, string][] {
  const scope = error.sampled ? ` (${error.elements} elements of sampled rows)` : '';
  return [
    [
      'error',
      `against the fp64 product${scope}: max ${brief(error.maxAbsolute)}, mean relative ${brief(error.meanRelative)}, ` +
        `signed bias ${brief(error.signedBias)} (of magnitudes ${brief(error.magnitudeBias)}), max ${brief(error.maxUlp)} ulp`,
    ],
    [
      'ulp',
      error.ulpHistogram
        .map(({ upTo, count }) => `${upTo === null ? '>1024' : `≤${upTo}`}: ${count}`)
        .join('  ') + (error.nonFinite > 0 ? `  not finite: ${error.nonFinite}` : ''),
    ],
  ];
}

/** The report as JSON: everything but the words. */
export function gemmJson(result: GemmResult, written: readonly string[]): string {
  const { words: _, ...rest } = result;
  return `${JSON.stringify({ ...rest, macsPerSecond: result.macs / result.seconds, written }, null, 2)}\n`;
}
