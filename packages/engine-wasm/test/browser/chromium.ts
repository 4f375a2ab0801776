import { existsSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { build } from 'esbuild';
import { type Browser, chromium } from 'playwright-core';
import { readSuiteFile } from '../suite/files.js';

export const CHROMIUM = process.env.BITMMA_CHROMIUM ?? '/usr/bin/chromium';
export const hasChromium = existsSync(CHROMIUM);

export const launch = (): Promise<Browser> =>
  chromium.launch({
    executablePath: CHROMIUM,
    args: [
      ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-sync'],
      ...['--disable-background-networking', '--disable-component-update'],
    ],
  });

/** One TypeScript or JavaScript file with everything it imports, as the package's users bundle it. */
export async function bundle(entry: URL): Promise<string> {
  const result = await build({
    entryPoints: [entry.pathname],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    logLevel: 'warning',
  });
  return result.outputFiles[0].text;
}

/**
 * Serves a page that runs `script`, and the suite's files under /files/. `isolated` sends the headers that let a page
 * have SharedArrayBuffer.
 */
export async function serve(script: string, isolated: boolean): Promise<{ server: Server; url: string }> {
  const server = createServer(async (request, response) => {
    if (isolated) {
      response.setHeader('Cross-Origin-Opener-Policy', 'same-origin');
      response.setHeader('Cross-Origin-Embedder-Policy', 'require-corp');
    }
    const send = (type: string, body: string) => {
      response.setHeader('Content-Type', type);
      response.end(body);
    };
    const path = decodeURIComponent(request.url ?? '/');
    if (path === '/') send('text/html', '<!doctype html><script type="module" src="/page.js"></script>');
    else if (path === '/page.js') send('text/javascript', script);
    else if (path.startsWith('/files/'))
      send('text/plain', await readSuiteFile(path.slice('/files/'.length)));
    else {
      response.statusCode = 404;
      response.end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
}
