// `bitmma gemm` from files, 4096 x 4096 x 4096 FP8 on h100, one thread: its time against that of the bare micro-kernel
// measured in the same minute, its progress bar, its memory. Exit 1 where a bar is missed.
// node bench/large-gemm.mjs [n=4096] [GMAC/s of the kernel; default: measured by cargo's example `speed`]
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeTensor } from '../dist/files/index.js';

const n = Number(process.argv[2] ?? 4096);
const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/** GMAC/s of the micro-kernel alone, as the table of the native engine's README states it. */
function kernelSpeed() {
  if (process.argv[3] !== undefined) return Number(process.argv[3]);
  const text = execFileSync(
    'cargo',
    'run --release -q -p bitmma-microkernel --example speed -- --isa avx512 --rounds 3 --only'
      .split(' ')
      .concat('Hopper wgmma e4m3'),
    { cwd: here('../../engine-native'), encoding: 'utf8' },
  );
  const row = text.split('\n').find((line) => /^\| Hopper wgmma e4m3 \| words/.test(line));
  return Number(row.split('|')[4]);
}

/** Finite e4m3 words of mixed exponents. */
let state = 1;
const words = Uint8Array.from({ length: n * n }, () => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return (state >>> 24) & 0xbf;
});

const folder = mkdtempSync(join(tmpdir(), 'bitmma-large-'));
try {
  const at = (name) => join(folder, name);
  await writeTensor(at('A.npy'), { format: 'e4m3', words, shape: [n, n] });
  await writeTensor(at('B.npy'), { format: 'e4m3', words: words.toReversed(), shape: [n, n] });
  const before = kernelSpeed();
  // In the command's process: stderr counts as a terminal, so that the bar is drawn; the peak of memory is written.
  const hook =
    'import{writeFileSync}from"node:fs";process.stderr.isTTY=true;process.stderr.columns=100;process.on("exit",()=>writeFileSync(process.env.PEAK,String(process.resourceUsage().maxRSS)))';
  const command = [
    `--import=data:text/javascript,${encodeURIComponent(hook)}`,
    here('../dist/cli/main.js'),
    ...`gemm ${at('A.npy')} ${at('B.npy')} --device h100 --a-format e4m3 --b-format e4m3 --engine native --threads 1 --json`.split(
      ' ',
    ),
    ...['--out', at('D.npy')],
  ];
  const start = performance.now();
  const run = spawnSync(process.execPath, command, {
    encoding: 'utf8',
    env: { ...process.env, PEAK: at('peak') },
  });
  const total = (performance.now() - start) / 1e3;
  if (run.status !== 0) throw new Error(`bitmma gemm failed: ${run.stderr}`);
  const report = JSON.parse(run.stdout);
  const after = kernelSpeed();
  const speed = (before + after) / 2;
  const predicted = n ** 3 / (speed * 1e9);
  const peak = Number(readFileSync(at('peak'), 'utf8')) / 1024;
  const own = (n * n * (1 + 1 + 4)) / 2 ** 20;
  const bars = (run.stderr.match(/\d+%/g) ?? []).length;
  const over = report.seconds / predicted - 1;
  const line = (met, text) => console.log(`${met ? 'met   ' : 'MISSED'} ${text}`);
  line(
    over < 0.15,
    `time: ${report.seconds.toFixed(2)} s of GEMM (${report.kernel}), predicted ${predicted.toFixed(2)} s at ${speed.toFixed(1)} GMAC/s: ${(100 * over).toFixed(1)} % over (bar 15 %); the whole command ${total.toFixed(2)} s with reading, fp64 statistics, hash and writing`,
  );
  line(bars > 3, `progress bar: drawn ${bars} times`);
  line(
    peak < 4 * own,
    `memory: at most ${peak.toFixed(0)} MiB, ${(peak / own).toFixed(2)} x operands and result (bar 4 x ${own.toFixed(0)} MiB)`,
  );
  process.exitCode = over < 0.15 && bars > 3 && peak < 4 * own ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true });
}
