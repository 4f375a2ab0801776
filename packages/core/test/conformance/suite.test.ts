import { describe, expect, test } from 'vitest';
import { type CaseSet, sliceCases } from '../../src/conformance/cases.js';
import { mismatches } from '../../src/conformance/compare.js';
import { campaignOf, generateCases } from '../../src/conformance/generate.js';
import { readVectors, writeVectors } from '../../src/conformance/jsonl.js';
import { reportLines } from '../../src/conformance/report.js';
import { NothingRanError, runSuite } from '../../src/conformance/suite.js';
import { findOp } from '../../src/datapath/aliases/op.js';
import type { MmaOp } from '../../src/datapath/op.js';
import type { Engine } from '../../src/engine/engine.js';
import { EngineRegistry } from '../../src/engine/registry.js';
import { CancelledError, EngineUnavailableError, UnknownNameError } from '../../src/errors.js';
import { referenceEngine } from '../../src/reference/index.js';

const op = findOp('h100', 'mma.sync.m16n8k16.f32.f16.f16.f32');
const f64 = findOp('h100', 'mma.sync.m16n8k4.f64.f64.f64.f64');

/** The reference with another op behind the name: an engine with a bug. */
const wrong = (change: (op: MmaOp) => MmaOp, more: Partial<Engine> = {}): Engine => {
  const base = referenceEngine();
  return {
    ...base,
    id: 'wrong',
    lineage: 'wrong',
    open: (o, options) => base.open(change(o), options),
    ...more,
  };
};

const shifted = wrong((o) => ({
  ...o,
  datapath: o.datapath.kind === 'fused-window' ? { ...o.datapath, fraction: 24 } : o.datapath,
}));

describe('the comparator', () => {
  const set = (o: MmaOp, d: CaseSet['d'], accept?: CaseSet['accept']): CaseSet => ({
    ...generateCases(o, campaignOf('normal'), { seed: 1, count: 2 }),
    ...(accept ? { accept } : {}),
    d: d!,
  });

  test('tells NaN payloads and zeros apart', () => {
    const s = set(op, Uint32Array.of(0x7fffffff, 0));
    expect(mismatches(s, Uint32Array.of(0x7fffffff, 0), s.d!)).toEqual([]);
    expect(mismatches(s, Uint32Array.of(0x7fc00000, 0), s.d!)).toEqual([0]);
    expect(mismatches(s, Uint32Array.of(0x7fffffff, 0x80000000), s.d!)).toEqual([1]);
  });

  test('takes fp64 as both halves', () => {
    const s = set(f64, Uint32Array.of(1, 2, 3, 4));
    expect(mismatches(s, Uint32Array.of(1, 2, 3, 4), s.d!)).toEqual([]);
    expect(mismatches(s, Uint32Array.of(0, 2, 3, 4), s.d!)).toEqual([0]);
    expect(mismatches(s, Uint32Array.of(1, 2, 3, 5), s.d!)).toEqual([1]);
  });

  test('accepts another word only where the vector says so', () => {
    const s = set(op, Uint32Array.of(1, 1), new Map([[1, Uint32Array.of(7, 8)]]));
    expect(mismatches(s, Uint32Array.of(8, 8), s.d!)).toEqual([0]);
    expect(mismatches(s, Uint32Array.of(1, 9), s.d!)).toEqual([1]);
  });

  test('the word read from a file is what counts', async () => {
    const base = { ...generateCases(op, campaignOf('normal'), { seed: 1, count: 1 }), d: Uint32Array.of(5) };
    const line = JSON.stringify({ ...JSON.parse([...writeVectors(base)][0]), accept: ['00000006'] });
    for await (const s of readVectors([line], { source: 'x', resolve: findOp })) {
      expect(mismatches(s, Uint32Array.of(6), s.d!)).toEqual([]);
      expect(mismatches(s, Uint32Array.of(7), s.d!)).toEqual([0]);
    }
  });
});

describe('the suite', () => {
  test('finds a wrong engine and shrinks what it finds', async () => {
    const set = generateCases(op, campaignOf('window-edge'), { seed: 1, count: 200 });
    const run = () => runSuite([set], { engine: shifted, against: referenceEngine(), keep: 2 });
    const result = await run();
    expect(result.failed).toBeGreaterThan(0);
    expect(result.passed + result.failed).toBe(200);
    const { mismatches: found } = result.ops[0];
    expect(found).toHaveLength(2);
    // Two terms are the least that a narrower window can tell.
    const { vector, got } = found[0].smallest!;
    const terms =
      vector.a.split(' ').filter((word) => !/^[08]000$/.test(word)).length +
      (vector.c === '00000000' ? 0 : 1);
    expect(terms).toBeLessThanOrEqual(3);
    expect(got).not.toBe(vector.d);
    expect((await run()).ops[0].mismatches).toEqual(found);
    const lines = [...reportLines(result)];
    expect(lines.at(-1)).toBe(`${result.passed} passed, ${result.failed} failed`);
    expect(lines.join('\n')).toContain('smallest: {"id":');
  });

  test('the smallest failure fails again when it is read from a file', async () => {
    const set = generateCases(op, campaignOf('window-edge'), { seed: 1, count: 200 });
    const { ops } = await runSuite([set], { engine: shifted, against: referenceEngine(), keep: 1 });
    const text = JSON.stringify(ops[0].mismatches[0].smallest!.vector);
    const read = () => readVectors([text], { source: 'small', resolve: findOp });
    expect(await runSuite(read(), { engine: referenceEngine() })).toMatchObject({ passed: 1, failed: 0 });
    expect(await runSuite(read(), { engine: shifted })).toMatchObject({ passed: 0, failed: 1 });
  });

  test('the smallest failure is minimal: no set bit of it can be cleared', async () => {
    const set = generateCases(op, campaignOf('window-edge'), { seed: 3, count: 100 });
    const { ops } = await runSuite([set], { engine: shifted, against: referenceEngine(), keep: 1 });
    const { vector } = ops[0].mismatches[0].smallest!;
    const fewer: string[] = [];
    for (const field of ['a', 'b', 'c'] as const)
      vector[field].split(' ').forEach((word, i, words) => {
        for (let bit = 0; bit < word.length * 4; bit++) {
          const value = Number.parseInt(word, 16);
          if (Math.floor(value / 2 ** bit) % 2 === 0) continue;
          const next = words.with(i, (value - 2 ** bit).toString(16).padStart(word.length, '0')).join(' ');
          const { d: _, ...rest } = vector;
          fewer.push(JSON.stringify({ ...rest, id: `${field}${i}.${bit}`, [field]: next }));
        }
      });
    expect(fewer.length).toBeGreaterThan(3);
    const sets = readVectors([fewer.join('\n')], { source: 'fewer', resolve: findOp, requireD: false });
    expect(await runSuite(sets, { engine: shifted, against: referenceEngine() })).toMatchObject({
      passed: fewer.length,
      failed: 0,
    });
  });

  test('two engines of one lineage are no two witnesses', async () => {
    const set = generateCases(op, campaignOf('normal'), { seed: 1, count: 1 });
    await expect(runSuite([set], { engine: referenceEngine(), against: referenceEngine() })).rejects.toThrow(
      /expected two lineages/,
    );
  });

  test('cases without d need a second engine', async () => {
    const set = generateCases(op, campaignOf('normal'), { seed: 1, count: 1 });
    await expect(runSuite([set], { engine: referenceEngine() })).rejects.toThrow(
      /expected d words or a second engine/,
    );
  });

  test('nothing ran is a failure, with the reason', async () => {
    const none = wrong((o) => o, { supports: () => ({ ok: false, reason: 'no integers here' }) });
    const set = generateCases(op, campaignOf('normal'), { seed: 1, count: 1 });
    const failure = runSuite([set], { engine: none, against: referenceEngine() });
    await expect(failure).rejects.toBeInstanceOf(NothingRanError);
    await expect(failure).rejects.toThrow(/no integers here/);
    await expect(runSuite([], { engine: referenceEngine() })).rejects.toThrow(/there were no cases/);
    await expect(
      runSuite([set], { engine: wrong((o) => o), against: referenceEngine(), kernel: 'avx9' }),
    ).rejects.toThrow(/no kernel avx9 for this op, it has bigint/);
  });

  test('an engine that reports no kernel is refused', async () => {
    const base = referenceEngine();
    const silent: Engine = {
      ...base,
      id: 'silent',
      lineage: 'silent',
      async open(o, options) {
        const session = await base.open(o, options);
        return new Proxy(session, {
          get: (target, name) =>
            name === 'report'
              ? () => ({ kernels: {}, rarePaths: {} })
              : typeof Reflect.get(target, name) === 'function'
                ? (Reflect.get(target, name) as () => unknown).bind(target)
                : Reflect.get(target, name),
        });
      },
    };
    const set = generateCases(op, campaignOf('normal'), { seed: 1, count: 1 });
    await expect(runSuite([set], { engine: silent, against: base })).rejects.toThrow(
      /reports no kernel that ran/,
    );
  });

  test('a forced kernel that another stood in for is refused', async () => {
    const base = referenceEngine();
    const stand = (rarePaths: Record<string, number>): Engine => ({
      ...base,
      id: 'stand-in',
      lineage: 'stand-in',
      supports: () => ({ ok: true, kernels: ['fast', 'slow'] }),
      async open(o) {
        const session = await base.open(o);
        return {
          op: o,
          kernel: 'fast',
          load: (x) => session.load(x),
          attach: (x) => session.attach(x),
          tile: (x, y) => session.tile(x, y),
          settle: () => session.settle(),
          dots: (x) => session.dots(x),
          report: () => ({ kernels: { slow: 5 }, rarePaths }),
          close: () => session.close(),
        };
      },
    });
    const set = generateCases(op, campaignOf('normal'), { seed: 1, count: 5 });
    const run = (engine: Engine) => runSuite([set], { engine, kernel: 'fast', against: base });
    await expect(run(stand({}))).rejects.toThrow(/was to run kernel fast, but reports slow/);
    expect(await run(stand({ 'handed-back': 5 }))).toMatchObject({ passed: 5 });
  });

  test('an unsupported op beside a supported one is skipped and named', async () => {
    const some = wrong((o) => o, {
      supports: (o) => (o === f64 ? { ok: false, reason: 'no fp64' } : { ok: true, kernels: ['bigint'] }),
    });
    const sets = [op, f64].map((o) => generateCases(o, campaignOf('normal'), { seed: 1, count: 3 }));
    const result = await runSuite(sets, { engine: some, against: referenceEngine() });
    expect(result).toMatchObject({ passed: 3, failed: 0, skipped: 3 });
    expect([...reportLines(result)]).toContain(
      `h100 ${f64.instruction}: 0 passed, 0 failed, 3 skipped (no fp64)`,
    );
    expect([...reportLines(result)].at(-1)).toBe('3 passed, 0 failed, 3 skipped');
  });

  test('stops at its signal', async () => {
    const set = generateCases(op, campaignOf('normal'), { seed: 1, count: 10 });
    const failure = runSuite([set], {
      engine: wrong((o) => o),
      against: referenceEngine(),
      signal: AbortSignal.abort(),
    });
    await expect(failure).rejects.toBeInstanceOf(CancelledError);
  });

  test('a slice keeps its names, claims and accepted words', () => {
    const set: CaseSet = {
      ...generateCases(op, campaignOf('normal'), { seed: 1, count: 4 }),
      claims: new Map([[2, ['tie']]]),
      accept: new Map([[3, Uint32Array.of(1)]]),
    };
    const part = sliceCases(set, 2, 2);
    expect(part.id(0)).toBe(set.id(2));
    expect(part.claims).toEqual(new Map([[0, ['tie']]]));
    expect(part.accept).toEqual(new Map([[1, Uint32Array.of(1)]]));
    expect([...writeVectors(part)].map((line) => JSON.parse(line).a)).toEqual(
      [...writeVectors(set)].slice(2).map((line) => JSON.parse(line).a),
    );
  });
});

describe('the registry', () => {
  const entry = (id: string, create = async () => ({ ...referenceEngine(), id })) => ({
    id,
    about: id,
    create,
  });
  const missing = entry('gpu', async () => {
    throw new EngineUnavailableError('gpu', 'no device', 'plug one in');
  });

  test('opens what was named, once', async () => {
    const registry = new EngineRegistry([entry('one'), entry('two')]);
    expect((await registry.open('two')).id).toBe('two');
    expect(await registry.open('two')).toBe(await registry.open('two'));
  });

  test('an unknown name is an error that lists the known ones', async () => {
    const registry = new EngineRegistry([entry('one'), entry('two')]);
    await expect(registry.open('three')).rejects.toBeInstanceOf(UnknownNameError);
    await expect(registry.open('three')).rejects.toThrow('expected one of one, two, got three');
  });

  test('an engine that is not available stays an error', async () => {
    const registry = new EngineRegistry([entry('one'), missing]);
    await expect(registry.open('gpu')).rejects.toBeInstanceOf(EngineUnavailableError);
    const found = await registry.probe();
    expect(found.map((each) => 'engine' in each)).toEqual([true, false]);
  });

  test('a name is registered once', () => {
    expect(() => new EngineRegistry([entry('one'), entry('one')])).toThrow(/registered twice/);
  });
});
