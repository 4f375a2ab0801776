export { cachePath } from './cache.js';
export { resultOperand, sampleInputs, speedOf } from './calibrate.js';
export { type Candidate, type Choice, type ChooseOptions, chooseFastest } from './choose.js';
export { engineBuild, type Machine, thisMachine } from './fingerprint.js';
export {
  closePools,
  defaultThreads,
  sharedPool,
  TilePool,
  WorkerEngineError,
  WorkerLostError,
} from './pool.js';
export { type ScheduleRequest, type ScheduleRun, schedule, shareInputs } from './schedule.js';
export {
  familyOf,
  fitSpeed,
  type ProblemSize,
  predictSeconds,
  type SpeedModel,
  type ThreadPlan,
  type Timing,
} from './speed.js';
export { cutTiles, TILE_UNIT, type TileBounds, type TilePlan } from './tiles.js';
