import { readFileSync } from 'node:fs';
import { type Machine, thisMachine } from 'bitmma/schedule';

/** The machine with the vector instruction sets that its kernels may use. */
export interface BenchMachine extends Machine {
  readonly avx2: boolean;
  readonly avx512: boolean;
}

export function benchMachine(): BenchMachine {
  let flags = '';
  try {
    flags = /^flags\s*:(.*)$/m.exec(readFileSync('/proc/cpuinfo', 'utf8'))?.[1] ?? '';
  } catch {
    // Not Linux: no flags known.
  }
  return { ...thisMachine(), avx2: / avx2 /.test(`${flags} `), avx512: / avx512f /.test(`${flags} `) };
}
