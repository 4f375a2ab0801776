// Blind re-identification of every float arithmetic of the catalog, one op for each opHash. Long: about three seconds an
// op with the native engine built.
//   node scripts/reidentify.mjs [--box reference|native] [--kind fused-window]
// A line an op: found or not, questions, and the class: values proved to give the same words, values no vector told apart.
import { catalog, opHash } from '@bitmma/core';
import { referenceEngine } from '@bitmma/core/reference';
import { nativeEngine } from '@bitmma/engine-native';
import { identify, proveEqual, showValues, signatureOf } from '@bitmma/probe';

const option = (name) => {
  const at = process.argv.indexOf(name);
  return at < 0 ? undefined : process.argv[at + 1];
};
const native = await nativeEngine();
const boxes = { reference: referenceEngine(), native };
const box = boxes[option('--box') ?? 'reference'];
const kind = option('--kind');

const distinct = new Map();
for (const op of catalog()) {
  const hash = opHash(op);
  if (op.datapath.kind !== 'integer' && !distinct.has(hash)) distinct.set(hash, op);
}
let found = 0;
let missed = 0;
let most = 0;
for (const op of distinct.values()) {
  if (kind !== undefined && op.datapath.kind !== kind) continue;
  const session = await box.open(op);
  const signature = signatureOf(op);
  const result = await identify(session, signature, { judge: native });
  await session.close();
  // The truth is in the class: proved equal to what is held, or one of the values left open beside it.
  const proved = result.inside && proveEqual(signature, op.datapath, result.datapath) !== null;
  const open = result.survey.axes.filter((axis) => axis.open.length > 0);
  const kinds = result.survey.openKinds.map((datapath) => datapath.kind);
  most = Math.max(most, result.queries);
  if (proved) found++;
  else missed++;
  const parts = [
    proved ? 'found' : 'MISSED',
    op.device,
    op.instruction,
    result.datapath.kind,
    `${result.queries} questions`,
    ...result.survey.axes
      .filter((axis) => axis.equal.length > 0)
      .map((axis) => `${axis.axis} ${axis.value} = ${showValues(axis.equal)}`),
    ...open.map((axis) => `${axis.axis} ${axis.value} not told from ${showValues(axis.open)}`),
    ...(kinds.length > 0 ? [`not told from ${kinds.join(', ')}`] : []),
    ...(proved ? [] : [JSON.stringify(result.datapath)]),
  ];
  process.stdout.write(`${parts.join('; ')}\n`);
}
process.stdout.write(
  `${found} found, ${missed} missed, at most ${most} questions, box ${box.id}, judge native\n`,
);
process.exitCode = missed === 0 ? 0 : 1;
