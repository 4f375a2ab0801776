import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { catalog, findDevice } from '@bitmma/core';
import { afterAll, describe, expect, it } from 'vitest';
import { clang, nvdisasm, ptxas12, ptxas13 } from '../scripts/find-tools.mjs';
import { hipBundles, ptxBundles } from './bundle.js';
import { bitmmaHw, kernels } from './executable.js';
import { pool } from './pool.js';

const folder = mkdtempSync(join(tmpdir(), 'bitmma-kernels-'));
afterAll(() => rmSync(folder, { recursive: true }), 60_000);
const all = kernels(folder);
const ptx = all.filter((k) => k.language === 'ptx');
const hip = all.filter((k) => k.language === 'hip');

/** What ptxas compiles for: the device's architecture, with the target's feature suffix. */
const gpuName = (k: (typeof all)[number]) => (k.target.endsWith('a') ? k.target : k.arch);
const short = (output: string) => output.split('\n').slice(0, 2).join(' ');

describe('kernels', () => {
  it('there is one for every instruction of the catalog, on each device that has it', () => {
    const have = new Set(all.map((k) => `${k.instruction} ${k.arch}`));
    const missing = catalog()
      .map((op) => `${op.instruction} ${findDevice(op.device).target}`)
      .filter((wanted) => !have.has(wanted));
    expect(missing).toEqual([]);
    expect(catalog().length).toBeGreaterThan(300);
  });

  for (const [title, ptxas] of [
    ['CUDA 12', ptxas12()],
    ['CUDA 13', ptxas13()],
  ] as const) {
    it.skipIf(!ptxas)(
      `every PTX kernel is assembled by ptxas of ${title} for each target`,
      { timeout: 600_000 },
      async () => {
        // CUDA 13 has no sm_70; CUDA 12.9 knows PTX ISA 8.8, and ue8m0 with scale_vec::4X in mma.sync came with 9.1.
        const wanted = ptx.filter((k) =>
          title === 'CUDA 13'
            ? k.arch !== 'sm_70'
            : !(k.arch.startsWith('sm_12') && /scale_vec::4X.*ue8m0/.test(k.instruction)),
        );
        const bundles = ptxBundles(wanted, gpuName);
        const file = (i: number) => join(folder, `${title.slice(-2)}-${i}`);
        for (const [i, bundle] of bundles.entries()) writeFileSync(`${file(i)}.ptx`, bundle.source);
        const results = await pool(
          [...bundles.keys()],
          (i) => [ptxas!, ['-arch', bundles[i].arch, '-o', `${file(i)}.cubin`, `${file(i)}.ptx`]],
          2,
        );
        // A module that fails is assembled again kernel by kernel, to name the culprit.
        const suspects = bundles
          .filter((_, i) => results[i].status !== 0)
          .flatMap((bundle) => bundle.kernels);
        const again = await pool(suspects, (k) => [
          ptxas!,
          ['-arch', gpuName(k), '-o', `${k.file}.cubin`, k.file],
        ]);
        const failures = again.flatMap((r, i) =>
          r.status === 0 ? [] : [`${suspects[i].instruction} ${suspects[i].arch}: ${short(r.output)}`],
        );
        expect(failures).toEqual([]);
        expect(suspects).toEqual([]);
        expect(wanted.length).toBeGreaterThan(900);
      },
    );
  }

  it.skipIf(!clang())(
    'every HIP kernel is compiled by clang for each target, to the instruction that it names',
    { timeout: 600_000 },
    async () => {
      const bundles = hipBundles(hip);
      for (const bundle of bundles) writeFileSync(join(folder, `${bundle.arch}.hip`), bundle.source);
      const results = await pool(bundles, ({ arch }) => [
        clang()!,
        [
          '-x',
          'hip',
          '--offload-device-only',
          `--offload-arch=${arch}`,
          '-nogpulib',
          '-nogpuinc',
          '-O2',
          '-S',
          '-o',
          join(folder, `${arch}.s`),
          join(folder, `${arch}.hip`),
        ],
      ]);
      for (const [i, bundle] of bundles.entries()) {
        expect(results[i].status, results[i].output.slice(0, 2000)).toBe(0);
        const bodies = readFileSync(join(folder, `${bundle.arch}.s`), 'utf8')
          .split(/^kernel_(?=\d+:)/m)
          .slice(1);
        expect(bodies.length).toBe(bundle.kernels.length);
        for (const body of bodies) {
          const kernel = bundle.kernels[Number.parseInt(body, 10)];
          const opcodes = body.slice(0, body.indexOf('s_endpgm')).match(/v_mfma_\w+/g);
          expect(opcodes, `${kernel.instruction} ${kernel.arch}`).toHaveLength(1);
          // The assembler writes its generation's spelling: the canonical one of the catalog there.
          const ops = catalog().filter((op) => findDevice(op.device).target === kernel.arch);
          const canonical = ops.find((op) => op.instruction === opcodes![0]);
          expect(canonical, `${kernel.instruction} ${kernel.arch} became ${opcodes![0]}`).toBeDefined();
          if (ops.some((op) => op.instruction === kernel.instruction))
            expect(opcodes![0]).toBe(kernel.instruction);
        }
      }
      expect(hip.length).toBeGreaterThan(100);
    },
  );

  it.skipIf(!ptxas13())('wgmma is assembled for any n', { timeout: 120_000 }, async () => {
    const names = [16, 24, 64, 128, 256].flatMap((n) => [
      `wgmma.mma_async.m64n${n}k16.f16.f16.f16`,
      `wgmma.mma_async.m64n${n}k32.f32.e5m2.e4m3`,
    ]);
    const files = names.map((name, i) => {
      const file = join(folder, `wgmma-${i}.ptx`);
      writeFileSync(file, bitmmaHw('kernel', '--instruction', name, '--arch', 'sm_90'));
      return file;
    });
    const results = await pool(files, (file) => [
      ptxas13()!,
      ['-arch', 'sm_90a', '-o', `${file}.cubin`, file],
    ]);
    expect(results.map((r) => r.output).join('')).toBe('');
    expect(results.every((r) => r.status === 0)).toBe(true);
  });

  const probe = [ptxas13(), nvdisasm()] as const;
  it.skipIf(!probe[0] || !probe[1])(
    'kernels become the matrix opcodes that the numerics speak of',
    { timeout: 180_000 },
    async () => {
      const expected: [string, string, RegExp][] = [
        ['mma.sync.m16n8k32.f32.e4m3.e5m2.f32', 'sm_89', /^QMMA\.16832/],
        // Hopper and Blackwell convert FP8 to fp16 (numerics, section 7): no FP8 opcode.
        ['mma.sync.m16n8k32.f32.e4m3.e5m2.f32', 'sm_90', /^HMMA\.16816/],
        ['mma.sync.m16n8k32.f32.e4m3.e5m2.f32', 'sm_100', /^HMMA\.16816/],
        ['mma.sync.m16n8k16.f32.f16.f16.f32', 'sm_80', /^HMMA\.16816\.F32/],
        ['mma.sync.m16n8k8.f32.tf32.tf32.f32', 'sm_80', /^HMMA\.1688\.F32\.TF32/],
        ['mma.sync.m8n8k4.f64.f64.f64.f64', 'sm_80', /^DMMA/],
        ['mma.sync.m16n8k32.s32.s8.u8.s32', 'sm_80', /^IMMA\.16832/],
        ['wgmma.mma_async.m64n8k16.f32.f16.f16', 'sm_90', /^HGMMA\.64x8x16\.F32/],
        ['wgmma.mma_async.m64n8k32.f32.e4m3.e4m3', 'sm_90', /^QGMMA\.64x8x32\.F32\.E4M3\.E4M3/],
        ['tcgen05.mma.kind::f16.f32.f16.f16', 'sm_100', /^UTCHMMA/],
        ['tcgen05.mma.kind::f8f6f4.f32.e4m3.e4m3', 'sm_100', /^UTCQMMA/],
        ['tcgen05.mma.kind::i8.s32.s8.s8', 'sm_100', /^UTCIMMA/],
        ['tcgen05.mma.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.ue8m0', 'sm_100', /^UTCOMMA/],
        ['mma.sync.m16n8k32.kind::f8f6f4.f32.e2m1.e4m3.f32', 'sm_120', /^QMMA/],
        ['mma.sync.m16n8k64.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0', 'sm_120', /^OMMA/],
      ];
      const wanted = expected.map(
        ([instruction, arch]) => ptx.find((k) => k.instruction === instruction && k.arch === arch)!,
      );
      await pool(wanted, (k) => [ptxas13()!, ['-arch', gpuName(k), '-o', `${k.file}.sass.cubin`, k.file]]);
      const listings = await pool(wanted, (k) => [nvdisasm()!, ['-c', `${k.file}.sass.cubin`]]);
      for (const [i, [instruction, arch, pattern]] of expected.entries()) {
        const opcodes = (listings[i].output.match(/\b(?:UTC\w*MMA|[HQIDO]G?MMA)[.\w]*/g) ?? []) as string[];
        expect(
          opcodes.some((o) => pattern.test(o)),
          `${instruction} ${arch}: ${opcodes.join(' ')}`,
        ).toBe(true);
        if (pattern.source.startsWith('^HMMA'))
          expect(
            opcodes.every((o) => o.startsWith('HMMA')),
            opcodes.join(' '),
          ).toBe(true);
      }
    },
  );
});
