import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { hasChromium, launch } from './browser/chromium.js';

const folder = new URL('..', import.meta.url).pathname;

test.skipIf(!hasChromium)(
  'the example page shows the SHA-256 that Node gets, for every instruction',
  async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ['examples/node.mjs'], { cwd: folder });
    const inNode = stdout
      .trim()
      .split('\n')
      .map((line) => line.split('  '));
    expect(inNode.length).toBe(5);
    expect(new Set(inNode.map(([sha]) => sha)).size).toBe(5);
    const server = spawn(process.execPath, ['examples/serve.mjs', '0'], { cwd: folder });
    const browser = await launch();
    try {
      const [line] = await once(server.stdout, 'data');
      const page = await browser.newPage();
      await page.goto(String(line).trim());
      for (const [sha256, instruction] of inNode) {
        await page.selectOption('select', instruction);
        await page.waitForFunction('/^[0-9a-f]{64}$/.test(document.getElementById("sha256").textContent)');
        await page.waitForFunction(
          `document.getElementById("node").textContent === ${JSON.stringify(`node examples/node.mjs ${instruction}`)}`,
        );
        expect(await page.textContent('#sha256')).toBe(sha256);
      }
    } finally {
      await browser.close();
      server.kill();
    }
  },
);
