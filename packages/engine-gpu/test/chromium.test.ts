import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startChromium } from './browser/chromium.js';
import { REPRESENTATIVES } from './cases.js';

const chromium = await startChromium();
const page = chromium.page!;
afterAll(() => chromium.close());

const WEBGL = REPRESENTATIVES.filter(([, instruction]) =>
  /mma\.sync\.(m8n8k4|m16n8k16|m16n8k8)\.|l40s|wgmma|f8f6f4|sp\.kind::tf32|16x16x16_f16|32x32x8_bf16|xf32/.test(
    instruction,
  ),
).filter(([, instruction]) => !/block_scale|s32/.test(instruction));

describe.each(['webgl', 'webgpu'] as const)(`%s in Chromium${chromium.why}`, (name) => {
  beforeAll(async () => {
    if (chromium.page) expect(await page.open(name)).toBeNull();
  });

  it.skipIf(!chromium.page).each(name === 'webgl' ? WEBGL : REPRESENTATIVES)(
    'agrees with the reference on %s %s',
    async (device, instruction) => {
      const result = await page.conformance(name, device, instruction, 16);
      expect(result).toMatchObject({ failed: 0, skipped: 0, mismatches: [], reason: null });
      expect(result.passed).toBeGreaterThan(0);
    },
  );

  it.skipIf(!chromium.page)('runs a tile of a GEMM', async () => {
    const { got, expected } = await page.gemm(name, 'h100', 'wgmma.mma_async.m64n8k32.f32.e4m3.e4m3');
    expect(got).toEqual(expected);
  });

  it.skipIf(!chromium.page)('says that its device is lost, and opens another', async () => {
    const { message, again } = await page.lose(name);
    expect(message).toMatch(
      /^EngineUnavailableError: engine web(gl|gpu) is not available: the (WebGL context|device) was lost/,
    );
    expect(again).toBeNull();
  });
});

describe.skipIf(!chromium.page)(`WebGPU's self-test in Chromium${chromium.why}`, () => {
  it('names an operation that comes out wrong', async () => {
    expect(await page.wrong('leading zeros')).toContain('fails its self-test at leading zeros');
  });
});
