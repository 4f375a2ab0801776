import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { catalog } from '@bitmma/core';
import { readVectorFile } from '@bitmma/core/conformance/node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { prepareCases } from '../src/index.js';
import { fileName } from '../src/prepare.js';
import { executable, root } from './executable.js';
import { machine, useFakeDrivers } from './fake.js';

let undo = () => {};
const folder = mkdtempSync(join(tmpdir(), 'bitmma-record-all-'));
beforeAll(() => {
  undo = useFakeDrivers();
}, 300_000);
afterAll(() => {
  undo();
  rmSync(folder, { recursive: true });
});

function recordAll(...args: string[]) {
  return spawnSync(`${root}scripts/record-all`, ['--executable', executable, ...args], { encoding: 'utf8' });
}

/** Unpacks an archive; its one folder. */
function unpack(archive: string): string {
  const into = mkdtempSync(join(folder, 'unpacked-'));
  expect(spawnSync('tar', ['-C', into, '-xzf', archive]).status).toBe(0);
  const [device] = readdirSync(into);
  return join(into, device);
}

describe('record-all on the fake drivers', () => {
  it('records every instruction of the device into one archive', { timeout: 120_000 }, async () => {
    machine('sm=90,gpu=NVIDIA H100 80GB HBM3');
    const cases = join(folder, 'cases');
    await prepareCases('h100', cases, { cases: 24, seed: 5 });
    const archive = join(folder, 'h100.tar.gz');
    const { status, stdout, stderr } = recordAll('--cases', cases, '--out', archive);
    expect(status, stdout + stderr).toBe(0);
    const ops = catalog().filter((op) => op.device === 'h100');
    const inside = unpack(archive);
    expect(inside.endsWith('/h100')).toBe(true);
    const json = (name: string) => JSON.parse(readFileSync(join(inside, name), 'utf8'));
    expect(json('summary.json')).toMatchObject({
      device: 'h100',
      steps: ops.length + 2,
      failed: 0,
      leftOut: 0,
    });
    const probes = readFileSync(join(inside, 'probes.jsonl'), 'utf8').trim().split('\n');
    expect(probes.length).toBeGreaterThanOrEqual(ops.length);
    const gemms = readFileSync(join(inside, 'gemms.jsonl'), 'utf8').trim().split('\n');
    expect(gemms.length).toBe(7 * 3 * 2 * 2 + 1);
    expect(JSON.parse(gemms[1]).algorithm).toMatchObject({
      tile: 20,
      stages: 35,
      splitK: 3,
      reductionScheme: 1,
    });
    // The recordings are vector files of the conformance command: words, provenance, every campaign's cases.
    for (const op of ops) {
      const name = fileName(op.instruction);
      let count = 0;
      for await (const set of readVectorFile(join(inside, `${name}.bmv`))) {
        expect(set.op.instruction).toBe(op.instruction);
        expect(set.d).toBeDefined();
        expect(set.provenance).toMatchObject({
          gpu: 'NVIDIA H100 80GB HBM3',
          seed: '5',
          inputs: 'generated',
          evidence: 'recorded',
        });
        count += set.count;
      }
      expect(count).toBeGreaterThanOrEqual(24);
      expect(json(`${name}.report.json`).instructions[op.instruction]).toMatchObject({
        cases: count,
        positionFailures: 0,
      });
    }
  });

  it('keeps what it has when a kernel faults, and stops at its budget', { timeout: 180_000 }, async () => {
    machine('gfx=gfx908,gpu=AMD Instinct MI100,fault=sync,after=2');
    const cases = join(folder, 'amd');
    await prepareCases('mi100', cases, { cases: 12, seed: 1 });
    const archive = join(folder, 'mi100.tar.gz');
    const faulty = recordAll('--cases', cases, '--out', archive, '--api', 'hip');
    expect(faulty.status).toBe(1);
    expect(faulty.stderr).toContain('the kernel failed: 719');
    expect(existsSync(join(unpack(archive), 'summary.json'))).toBe(true);
    machine('gfx=gfx908,gpu=AMD Instinct MI100');
    const late = recordAll('--cases', cases, '--out', archive, '--api', 'hip', '--budget', '0');
    expect(late.status).toBe(1);
    const ops = catalog().filter((op) => op.device === 'mi100');
    expect(late.stdout).toContain(`0 steps done, 0 failed, ${ops.length + 1} left out`);
  });

  it('says what is missing', () => {
    machine('devices=0');
    const none = recordAll('--cases', folder);
    expect(none.status).toBe(3);
    expect(none.stderr).toContain('sees no device');
    expect(spawnSync(`${root}scripts/record-all`, ['--executable', '/nonexistent']).status).toBe(2);
    expect(recordAll('--unknown').status).toBe(2);
  });
});
