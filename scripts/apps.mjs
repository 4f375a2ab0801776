// Regenerates docs/apps: points (CSV), figures (SVG) and the tables in its pages, two studies at a time. Finished points
// are kept, so a run that was stopped goes on where it was; --fresh computes all of them again. Of the side studies
// a page holds the table alone: they are always computed.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from './bootstrap.mjs';

const folder = join(root, 'docs', 'apps');
const program = join(root, 'packages', 'bitmma', 'dist', 'cli', 'main.js');
const layer = join(root, 'examples', 'minilm', 'layer0.safetensors');
const chainedSizes = Array.from({ length: 9 }, (_, i) => Math.floor(10 ** (1 + i / 2) + 1e-6)).join(',');

const own = ['b200-23-bits', 'b200-nearest'].map((name) => join(folder, `${name}.json`)).join(',');
const ablation = ['--words', '1,2', '--n', '1000,10000,100000', '--devices', 'v100,b200,mi100'];

// Page, name between whose markers the table goes, arguments. Longest first, so that the two lanes end together.
const STUDIES = [
  ['multiword', 'multiword-e5m2', ['multiword', '--format', 'e5m2']],
  ['multiword', 'multiword-fp16', ['multiword', '--format', 'fp16']],
  ['multiword', 'multiword-bf16', ['multiword', '--format', 'bf16']],
  ['smd', 'smd', ['smd']],
  ['accumulation', 'accumulation', ['accumulation', `${layer}:x`, `${layer}:query.weight`, '--trans-b']],
  ...['e5m2', 'fp16', 'bf16'].map((format) => [
    'multiword',
    `multiword-${format}-chained`,
    ['multiword', '--format', format, '--order', 'chained', '--n', chainedSizes],
  ]),
];
const SIDE_STUDIES = [
  ['multiword', 'ablation', ['multiword', '--format', 'fp16', ...ablation, '--datapath', own]],
  ['smd', 'smd-seed-2', ['smd', '--seed', '2']],
  ['smd', 'smd-seed-3', ['smd', '--seed', '3']],
];
function run(name, argv, out) {
  const start = Date.now();
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program, 'app', ...argv, '--out', out], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let text = '';
    child.stdout.on('data', (part) => {
      text += part;
    });
    child.on('error', reject);
    child.on('exit', (code) => {
      if (code !== 0) return reject(new Error(`${name}: exit code ${code}`));
      process.stdout.write(`${name}: ${((Date.now() - start) / 1000).toFixed(0)} s\n`);
      resolve(text);
    });
  });
}

/** Puts a study's tables between the page's markers. */
function insert(page, name, out) {
  const file = join(folder, `${page}.md`);
  const text = readFileSync(file, 'utf8');
  const [open, close] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const [at, end] = [text.indexOf(open), text.indexOf(close)];
  if (at < 0 || end < at) throw new Error(`${file}: expected ${open} … ${close}`);
  const tables = out.replace(/\nwritten .*\n$/, '').trim();
  writeFileSync(file, `${text.slice(0, at + open.length)}\n\n${tables}\n\n${text.slice(end)}`);
}

if (!existsSync(program)) {
  process.stderr.write('expected a built packages/bitmma; run npm run build first\n');
  process.exit(2);
}
if (process.argv.includes('--fresh'))
  for (const [, name] of STUDIES) rmSync(join(folder, `${name}.csv`), { force: true });

const scratch = mkdtempSync(join(tmpdir(), 'bitmma-apps-'));
const start = Date.now();
const waiting = [
  ...STUDIES.map((study) => [...study, folder]),
  ...SIDE_STUDIES.map((study) => [...study, join(scratch, study[1])]),
];
const lane = async () => {
  for (let study = waiting.shift(); study; study = waiting.shift()) {
    const [page, name, argv, out] = study;
    insert(page, name, await run(name, argv, out));
  }
};
try {
  await Promise.all([lane(), lane()]);
} finally {
  rmSync(scratch, { recursive: true });
}
process.stdout.write(`all: ${((Date.now() - start) / 60000).toFixed(1)} minutes\n`);
