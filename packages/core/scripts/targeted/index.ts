import { cdnaFp32 } from './cdna-fp32.js';
import { cdna1 } from './cdna1.js';
import { cdna2 } from './cdna2.js';
import { cdna3 } from './cdna3.js';
import { cdna3Fp8 } from './cdna3-fp8.js';
import { disputes } from './disputes.js';
import type { TargetedFile } from './dsl.js';
import { tcgen05 } from './tcgen05.js';
import { tcgen05Scaled } from './tcgen05-scaled.js';

/** Every targeted vector file, from its inputs and the results that the sources state. */
export const TARGETED: readonly TargetedFile[] = [
  ...cdnaFp32,
  ...cdna1,
  ...cdna2,
  ...cdna3,
  ...cdna3Fp8,
  ...tcgen05,
  ...tcgen05Scaled,
  ...disputes,
];

/** A file's text: a header line, then a vector a line. */
export function textOf({ source, vectors }: TargetedFile): string {
  const ids = new Set<string>();
  for (const { id } of vectors) {
    if (ids.has(id)) throw new RangeError(`two vectors are named ${id}`);
    ids.add(id);
  }
  return `${[{ bitmmaVectors: 1, provenance: { source } }, ...vectors].map((line) => JSON.stringify(line)).join('\n')}\n`;
}
