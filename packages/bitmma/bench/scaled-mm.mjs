// scaled_mm on one thread: how much of the time is combination and epilogue. node bench/scaled-mm.mjs [n=4096] [engine=native]

import { vectorsFor } from '../dist/cublas/vectors.js';
import { cublas, ENGINES } from '../dist/index.js';

const n = Number(process.argv[2] ?? 4096);
const engine = await ENGINES.open(process.argv[3] ?? 'native');
let state = 1;
const words = () =>
  Uint8Array.from({ length: n * n }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state >>> 24) & 0xbf;
  });
const a = { format: 'e4m3', words: words(), shape: [n, n], strides: [n, 1] };
const b = { format: 'e4m3', words: words(), shape: [n, n], strides: [1, n] };
const one = cublas.scaleWord(0x3f800000);

const spent = { combination: 0, epilogue: 0 };
const vectors = await vectorsFor(engine);
const timed =
  (name, f) =>
  (...args) => {
    const start = performance.now();
    f(...args);
    spent[name] += performance.now() - start;
  };
const counting = {
  addInto: timed('combination', vectors.addInto),
  canonicalise: timed('combination', vectors.canonicalise),
  epilogue: timed('epilogue', vectors.epilogue),
};
for (const useFastAccum of [true, false]) {
  spent.combination = spent.epilogue = 0;
  const start = performance.now();
  const options = {
    scaleA: one,
    scaleB: one,
    splitK: 1,
    outDtype: 'bf16',
    useFastAccum,
    engine,
    vectors: counting,
  };
  await cublas.scaledMm(a, b, options);
  const total = performance.now() - start;
  const share = (100 * (spent.combination + spent.epilogue)) / total;
  console.log(
    `${useFastAccum ? 'fast' : 'slow'} accumulation, ${n}^3 on ${engine.id}: ${(total / 1e3).toPrecision(3)} s, ${(n ** 3 / total / 1e6).toPrecision(3)} GMAC/s; combination ${spent.combination.toFixed(0)} ms, epilogue ${spent.epilogue.toFixed(0)} ms: ${share.toFixed(1)} %`,
  );
}
