import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { zigbuild } from '../scripts/find-tools.mjs';
import { executable } from './executable.js';

describe('bitmma-hw', () => {
  it.skipIf(!zigbuild())('is one file that needs glibc 2.28 or older', () => {
    const symbols = spawnSync('objdump', ['-T', executable], { encoding: 'utf8' });
    expect(symbols.status, symbols.stderr).toBe(0);
    const versions = [...symbols.stdout.matchAll(/GLIBC_(\d+)\.(\d+)/g)].map(
      ([, major, minor]) => Number(major) * 1000 + Number(minor),
    );
    expect(versions.length).toBeGreaterThan(0);
    expect(Math.max(...versions)).toBeLessThanOrEqual(2028);
    const libraries = [
      ...spawnSync('objdump', ['-p', executable], { encoding: 'utf8' }).stdout.matchAll(/NEEDED\s+(\S+)/g),
    ].map(([, name]) => name);
    const allowed = [
      'libc.so.6',
      'libdl.so.2',
      'libm.so.6',
      'libpthread.so.0',
      'librt.so.1',
      'ld-linux-x86-64.so.2',
      'libgcc_s.so.1',
    ];
    expect(libraries.filter((name) => !allowed.includes(name))).toEqual([]);
    expect(statSync(executable).size).toBeLessThan(8 << 20);
  });
});
