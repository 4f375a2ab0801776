export * from './scalar';
export { clearColumns, packColumn, packRow, prepareTables } from './simd/pack';
export { accumulated, codeBias, halfOutput, lowestExponent, rangeSteps } from './simd/params';
export { runPanels, runSingle } from './simd/run';
export { markAddends, narrow as narrowWords, widen as widenWords } from './simd/state';
