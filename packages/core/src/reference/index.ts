export { type DotWords, referenceDot, referenceEngine } from './engine.js';
export type { BlockTrace, Exact, Stage, TermTrace, Trace } from './trace.js';
