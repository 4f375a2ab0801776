export { type AccumulateOptions, accumulate, type Fp8Matrix, type SplitK } from './accumulate.js';
export type { ScaleTensor } from './checks.js';
export { type DotOptions, dot } from './dot.js';
export { alphaOf, epilogue, type OutFormat } from './epilogue.js';
export * from './errors.js';
export { type Combination, describePlan, makePlan, type Plan, type PlanRequest, type Split } from './plan.js';
export {
  type Fp8,
  findPreset,
  PRESETS,
  type Preset,
  type PresetName,
  presetBlock,
  type SplitScheme,
} from './presets.js';
export { DEFAULT_PROFILE, findProfile, PROFILES, type Profile } from './profiles.js';
export { type OutMatrix, type ScaledMmOptions, scaledMm, scaleWord } from './scaled-mm.js';
export {
  lookUpSplit,
  parseSplitTable,
  problemKey,
  type SplitEntry,
  type SplitProblem,
  type SplitTable,
} from './split-table.js';
