export * from './scalar';
export { packIntegerColumn, packIntegerRow } from './simd/integer';
export { clearColumns, packColumn, packRow, prepareTables } from './simd/pack';
export { accumulated, codeBias, halfOutput, lateSpan, lowestExponent, rangeSteps } from './simd/params';
export { runPanels, runSingle } from './simd/run';
export { markAddends, unifyNaN, narrow as narrowWords, widen as widenWords } from './simd/state';
