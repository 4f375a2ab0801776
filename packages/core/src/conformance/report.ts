import type { Mismatch, OpResult, SuiteResult } from './suite.js';

const counts = (record: Readonly<Record<string, number>>) =>
  Object.entries(record)
    .map(([name, n]) => `${name} ${n}`)
    .join(', ');

/** One op in one line: device, instruction, counts, the kernels and rare paths that ran. */
export function opLine(result: OpResult): string {
  const { op, passed, failed, skipped, reason, report } = result;
  const parts = [`${op.device} ${op.instruction}: ${passed} passed, ${failed} failed`];
  if (skipped > 0) parts.push(`, ${skipped} skipped (${reason})`);
  const kernels = counts(report.kernels);
  const rare = counts(report.rarePaths);
  if (kernels) parts.push(` [${kernels}${rare ? `; ${rare}` : ''}]`);
  return parts.join('');
}

/** A mismatch with everything that reproduces it. */
export function mismatchLines({ id, source, inputs, expected, got, smallest }: Mismatch): string[] {
  const lines = [`  ${source} ${id}: expected ${expected}, got ${got}`, `    ${inputs}`];
  if (smallest) lines.push(`    smallest: ${JSON.stringify(smallest.vector)} got ${smallest.got}`);
  return lines;
}

/** A line per op, its first mismatches, and last `N passed, N failed` (`, N skipped`). */
export function* reportLines(result: SuiteResult): Generator<string> {
  for (const op of result.ops) {
    yield opLine(op);
    for (const mismatch of op.mismatches) yield* mismatchLines(mismatch);
    const more = op.failed - op.mismatches.length;
    if (more > 0) yield `  and ${more} more`;
  }
  yield summaryLine(result);
}

/** `N passed, N failed`, and `, N skipped` where there are some. */
export const summaryLine = ({
  passed,
  failed,
  skipped,
}: Pick<SuiteResult, 'passed' | 'failed' | 'skipped'>): string =>
  `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
