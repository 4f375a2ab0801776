/** Conformance: vectors, generators, the comparator and the suite. Nothing here needs Node; files are in ./node. */
export * from './binary.js';
export * from './campaigns.js';
export * from './cases.js';
export * from './compare.js';
export * from './generate.js';
export * from './jsonl.js';
export * from './predicates.js';
export * from './prng.js';
export * from './recordings.js';
export * from './report.js';
export * from './shrink.js';
export * from './snapshot.js';
export * from './suite.js';
export * from './tiles.js';
export {
  asRecord,
  CaseBuilder,
  type Resolve,
  recordOf,
  type VectorRecord,
} from './vector.js';
export { formatWords, itemsPerWord, parseWords } from './words.js';
