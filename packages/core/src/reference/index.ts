export { addExact } from './cut.js';
export { type DotWords, referenceDot, referenceEngine } from './engine.js';
export { activePositions } from './sparse.js';
export type { BlockTrace, Exact, Stage, TermTrace, Trace } from './trace.js';
