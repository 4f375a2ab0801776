import { InputError } from '@bitmma/core';
import type { SplitK } from '../cublas/accumulate.js';
import type { SplitScheme } from '../cublas/presets.js';

/** `auto`, `1` or `S:scheme`. */
export function parseSplitK(text: string | undefined): SplitK {
  if (text === undefined || text === 'auto') return 'auto';
  if (text === '1') return 1;
  const match = /^([1-9]\d{0,4}):(serial|pairwise|contiguous)$/.exec(text);
  if (!match)
    throw new InputError(`--split-k: expected auto, 1, or S:serial, S:pairwise, S:contiguous, got ${text}`);
  return [Number(match[1]), match[2] as SplitScheme];
}
