import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { wasmEngine } from '../src/index.js';
import { bundle, CHROMIUM, hasChromium, launch, serve } from './browser/chromium.js';
import type { Page } from './browser/entry.js';
import { hasData, readSuiteFile, suiteFiles } from './suite/files.js';
import { distinctOps } from './suite/ops.js';
import { type Outcome, runEverything } from './suite/run.js';

const paths = await suiteFiles();
const KERNELS = ['scalar', 'simd'];

const outcomes = new Map<string, Promise<Outcome>>();
/** The suite in Node, run once a kernel. */
function inNode(kernel: string): Promise<Outcome> {
  let outcome = outcomes.get(kernel);
  if (!outcome) {
    outcome = runEverything(kernel, { paths, read: readSuiteFile });
    outcomes.set(kernel, outcome);
  }
  return outcome;
}

describe.each(KERNELS)('Node, kernel %s', (kernel) => {
  test('reproduces the reference, the vectors and the recordings, and takes every rare path', async () => {
    const outcome = await inNode(kernel);
    expect(outcome.mismatches).toEqual([]);
    expect(outcome.failed).toBe(0);
    expect(outcome.total).toBeGreaterThan(hasData ? 130_000 : 10_000);
    for (const [path, times] of Object.entries(outcome.rarePaths)) expect(times, path).toBeGreaterThan(0);
  });
});

test.skipIf(!hasData)('the recordings are among the cases', () => {
  expect(paths.filter((path) => path.endsWith('.txt')).length).toBe(30);
});

test('every op of the catalog is supported', async () => {
  const engine = await wasmEngine();
  const refused = distinctOps().filter((op) => !engine.supports(op).ok);
  expect(refused).toEqual([]);
});

describe.skipIf(!hasChromium)(`headless ${CHROMIUM}`, () => {
  let browser: Browser;
  let script: string;

  beforeAll(async () => {
    script = await bundle(new URL('./browser/entry.ts', import.meta.url));
    browser = await launch();
  });
  afterAll(() => browser?.close());

  /** Runs the suite in a fresh page. */
  async function inPage(kernel: string, files: readonly string[], isolated: boolean) {
    const { server, url } = await serve(script, isolated);
    const page = await browser.newPage();
    page.setDefaultTimeout(280_000);
    try {
      await page.goto(url);
      await page.waitForFunction('globalThis.bitmma !== undefined');
      return await page.evaluate(
        async ([name, list]) => {
          const { bitmma } = globalThis as unknown as { bitmma: Page };
          return { shared: bitmma.shared(), outcome: await bitmma.run(name as string, list as string[]) };
        },
        [kernel, files] as const,
      );
    } finally {
      await page.close();
      server.close();
    }
  }

  test.each(KERNELS)('kernel %s computes what it computes in Node, case for case', async (kernel) => {
    const { shared, outcome } = await inPage(kernel, paths, true);
    expect(shared).toBe(true);
    expect(outcome.mismatches).toEqual([]);
    expect(outcome).toEqual(await inNode(kernel));
  });

  test('a page without SharedArrayBuffer computes the same', async () => {
    const few = paths.filter((path) => path.endsWith('.jsonl'));
    const { shared, outcome } = await inPage('simd', few, false);
    expect(shared).toBe(false);
    expect(outcome).toEqual(await runEverything('simd', { paths: few, read: readSuiteFile }));
  });
});
