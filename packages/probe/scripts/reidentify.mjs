// Blind re-identification of every floating-point arithmetic of the catalog, a line each, on the reference and then on
// the native engine as the box; hypotheses are computed by the native engine. Two to three seconds an arithmetic and box.
//   node scripts/reidentify.mjs [--box reference|native] [--kind fused-window] [--kernel avx2]
//     --kernel: the native box's; arithmetics without it are left out
//   node scripts/reidentify.mjs --write     # both boxes, everything: writes reidentified.snap
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { referenceEngine } from '@bitmma/core/reference';
import { nativeEngine } from '@bitmma/engine-native';
import { floatArithmetics, reidentify } from '@bitmma/probe';

const SNAPSHOT = fileURLToPath(new URL('../reidentified.snap', import.meta.url));
const option = (name) => {
  const at = process.argv.indexOf(name);
  return at < 0 ? undefined : process.argv[at + 1];
};
const write = process.argv.includes('--write');
const [kind, kernel] = [option('--kind'), option('--kernel')];
const only = kernel === undefined ? option('--box') : 'native';
if (write && (only !== undefined || kind !== undefined)) {
  process.stderr.write('--write: expected no --box, --kind, --kernel: a snapshot is of everything\n');
  process.exit(2);
}
const native = await nativeEngine();
const forced = { ...native, open: (op) => native.open(op, { kernel }) };
const boxes = { reference: referenceEngine(), native: kernel === undefined ? native : forced };
if (only !== undefined && !Object.hasOwn(boxes, only)) {
  process.stderr.write(`--box: expected ${Object.keys(boxes).join(' or ')}, got ${only}\n`);
  process.exit(2);
}
const has = (op) => kernel === undefined || native.supports(op).kernels.includes(kernel);
const ops = floatArithmetics().filter((op) => (kind === undefined || op.datapath.kind === kind) && has(op));

const texts = [];
let missed = 0;
for (const [name, box] of Object.entries(boxes)) {
  if (only !== undefined && only !== name) continue;
  process.stderr.write(`box ${name}\n`);
  const lines = [];
  let most = 0;
  for (const op of ops) {
    const { found, queries, line } = await reidentify(op, box, { judge: native });
    if (!found) missed++;
    most = Math.max(most, queries);
    lines.push(line);
    process.stdout.write(`${line}\n`);
  }
  const own = lines.filter((line) => line.startsWith('found')).length;
  lines.push(`${own} of ${lines.length} found, at most ${most} questions`);
  process.stdout.write(`${lines.at(-1)}, box ${name}\n`);
  texts.push(`${lines.join('\n')}\n`);
}
const alike = new Set(texts).size === 1;
if (!alike) process.stderr.write('the two boxes differ\n');
if (write && alike && missed === 0) {
  let before = '';
  try {
    before = readFileSync(SNAPSHOT, 'utf8');
  } catch {}
  writeFileSync(SNAPSHOT, texts[0]);
  process.stderr.write(
    before === texts[0] ? 'reidentified.snap: as it was\n' : 'reidentified.snap: written\n',
  );
}
process.exitCode = missed === 0 && alike ? 0 : 1;
