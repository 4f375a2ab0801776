import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { opHash } from '@bitmma/core';
import type { Workload } from './workloads.js';

let source: string | undefined;

/** Hash of the measuring code and of one workload: records of another hash are never compared. */
export function benchVersion(workload: Workload): string {
  source ??= readFileSync(new URL(`./measure${extname(import.meta.url)}`, import.meta.url), 'utf8');
  const { id, m, n, k, op } = workload;
  return createHash('sha256')
    .update(`${source}\n${id} ${m} ${n} ${k} ${opHash(op)}`)
    .digest('hex')
    .slice(0, 12);
}
