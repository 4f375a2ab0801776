// npm start: installs, builds, and runs a real GEMM on three devices' arithmetic, compared and explained.
import { existsSync, mkdirSync } from 'node:fs';
import { delimiter, join, relative } from 'node:path';
import { buildAvailable, install, root } from './bootstrap.mjs';

const say = (text = '') => process.stdout.write(`${text}\n`);
const started = Date.now();

/** Whether a program is on the PATH. */
const has = (program) =>
  (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, program)));

/** One line for each optional part that is missing; none of them stops the start. */
function optionalParts() {
  if (!has('cargo'))
    say('without  Rust: the native engine is not built (install rustup, then npm start again)');
  if (!has('nvidia-smi') && !has('rocm-smi'))
    say('without  a GPU: nothing is checked against real hardware here');
  if (!has('chromium') && !has('google-chrome') && !has('chrome'))
    say('without  Chromium: the browser engines are not tested (install chromium for npm test)');
  if (!has('python3')) say('without  Python: tests on files of NumPy and safetensors are skipped');
}

/** Builds every package; one that is optional and fails is named in a line. */
function build() {
  const first = has('cargo') && !existsSync(join(root, 'packages/engine-native/dist/index.js'));
  say(first ? 'building (a few minutes the first time: the native engine is compiled here)' : 'building');
  for (const path of buildAvailable())
    say(`without  ${path}: its build failed (npx turbo run build --filter=./${path} shows why)`);
}

const number = (value) => value.toPrecision(2);

function timeOf({ seconds, macs, engine, kernel }) {
  return `${(1000 * seconds).toFixed(0)} ms on ${engine} (${kernel}), ${(macs / seconds / 1e6).toFixed(0)} M multiply-adds/s`;
}

async function example() {
  const {
    compare,
    dotCase,
    explain,
    explanationSvg,
    heatMapSvg,
    partingSummary,
    describeDatapath,
    writeAtomically,
  } = await import(join(root, 'packages/bitmma/dist/index.js'));
  const file = 'examples/minilm/layer0.safetensors';
  const operands = { a: join(root, `${file}:x`), b: join(root, `${file}:query.weight`), transB: true };
  const device = (label, format) => ({ label, device: label, aFormat: format, bFormat: format });
  const job = (format, labels) =>
    compare(
      operands,
      labels.map((label) => device(label, format)),
      {},
    );

  say();
  say(
    'Query projection of a transformer layer, Q = X x W^T, 20 x 384 x 384: what three GPUs compute, without the GPUs',
  );
  say(`data  ${file} (all-MiniLM-L6-v2, Apache-2.0; see examples/minilm/README.md)`);
  say();
  const half = await job('fp16', ['h100', 'b200', 'mi300x']);
  for (const { label, result } of half.results) {
    say(
      `${label.padEnd(7)} ${result.op.instruction}, ${describeDatapath(result.op)}; evidence: ${result.op.evidence.level}`,
    );
    say(
      `        mean relative error ${number(result.error.meanRelative)}, sha256 ${result.sha256.slice(0, 16)}, ${timeOf(result)}`,
    );
  }
  say();
  const pairLine = ({ left, right, difference: { different, words, maxUlp } }) =>
    different === 0
      ? `${left} : ${right}  every one of ${words} words is equal`
      : `${left} : ${right}  ${different} of ${words} words differ, at most ${maxUlp} units in the last place`;
  say('fp16 operands');
  for (const pair of half.pairs) say(`  ${pairLine(pair)}`);
  const eight = await job('e4m3', ['h100', 'b200']);
  say('FP8 operands (e4m3)');
  for (const pair of eight.pairs) say(`  ${pairLine(pair)}`);

  const pair = half.pairs.find(({ left, right }) => left === 'h100' && right === 'mi300x');
  const [row, col] = [Math.floor(pair.difference.first / half.cols), pair.difference.first % half.cols];
  const traces = [];
  for (const label of [pair.left, pair.right])
    traces.push(explain(await dotCase(operands, { ...device(label, 'fp16'), row, col })));
  say();
  say(`Why h100 and mi300x part at row ${row}, column ${col} (0x${traces[0].d} : 0x${traces[1].d}):`);
  for (const line of partingSummary(traces[0], traces[1])) say(`  ${line}`);

  const out = join(root, 'out');
  mkdirSync(out, { recursive: true });
  const pictures = {
    'where-words-differ.svg': heatMapSvg(half, 'Q = X x W^T of all-MiniLM-L6-v2, layer 0, fp16'),
    'explain-h100.svg': explanationSvg(traces[0]),
    'explain-mi300x.svg': explanationSvg(traces[1]),
  };
  for (const [name, svg] of Object.entries(pictures)) await writeAtomically(join(out, name), [svg]);
  say();
  say(
    `pictures  ${Object.keys(pictures)
      .map((name) => relative(root, join(out, name)))
      .join('  ')}`,
  );
  const paths = `${file}:x ${file}:query.weight --trans-b --a-format fp16`;
  say(`next      ./bitmma explain ${paths} --device h100 --versus mi300x --row ${row} --col ${col}`);
  say('          ./bitmma devices      ./bitmma gemm --help      npm test');
  say(`done in ${((Date.now() - started) / 1000).toFixed(0)} s`);
}

try {
  say('installing');
  install({ quiet: true });
  build();
  optionalParts();
  await example();
} catch (error) {
  process.stderr.write(`npm start: ${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
}
