/** Real GPUs as engines, and vector files recorded on them. */
export { cudaEngine, HardwareEngine, hipEngine } from './engine.js';
export { HardwareError } from './errors.js';
export type { Api, HardwareOptions } from './executable.js';
export { type Gpu, type Listing, listGpu } from './list.js';
export { type PrepareOptions, prepareCases } from './prepare.js';
export { type RecordOptions, record } from './record.js';
