import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { build } from 'esbuild';
import { type Page as BrowserPage, chromium } from 'playwright-core';
import type { Page } from './page.js';

const EXECUTABLE = process.env.BITMMA_CHROMIUM ?? '/usr/bin/chromium';

const FLAGS = [
  '--no-sandbox',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--use-gl=angle',
  '--use-angle=swiftshader',
  '--enable-unsafe-swiftshader',
  '--enable-unsafe-webgpu',
];

/** Chromium with both engines on a page, or why there is none. */
export type Chromium =
  | { readonly page: Page; readonly why: ''; close(): Promise<void> }
  | { readonly page: null; readonly why: string; close(): Promise<void> };

/** Calls of the page's functions, arguments and results by value. */
function remote(page: BrowserPage): Page {
  return new Proxy({} as Page, {
    get:
      (_, name) =>
      (...values: unknown[]) =>
        page.evaluate(
          ([method, parameters]) =>
            (globalThis as unknown as { bitmma: Record<string, (...v: unknown[]) => unknown> }).bitmma[
              method as string
            ](...(parameters as unknown[])),
          [name as string, values] as const,
        ),
  });
}

/** Bundles the page, serves it on this machine's loopback (WebGPU wants a secure context) and opens Chromium on it. */
export async function startChromium(): Promise<Chromium> {
  if (!existsSync(EXECUTABLE)) {
    const why = ` (skipped: ${EXECUTABLE} is absent; apt-get install chromium, or set BITMMA_CHROMIUM)`;
    if (process.env.BITMMA_REQUIRE_GPU_HOSTS) throw new Error(why);
    return { page: null, why, close: async () => {} };
  }
  const bundle = await build({
    entryPoints: [new URL('./page.ts', import.meta.url).pathname],
    bundle: true,
    write: false,
    format: 'iife',
    platform: 'browser',
    logLevel: 'error',
  });
  const script = bundle.outputFiles[0].text;
  const server = createServer((request, response) => {
    const isScript = request.url === '/page.js';
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
    response.end(isScript ? script : '<!doctype html><meta charset="utf-8"><script src="/page.js"></script>');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const browser = await chromium.launch({ executablePath: EXECUTABLE, headless: true, args: FLAGS });
  const page = await browser.newPage();
  await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  await page.waitForFunction(() => 'bitmma' in globalThis);
  return {
    page: remote(page),
    why: '',
    close: async () => {
      await browser.close();
      server.close();
    },
  };
}
