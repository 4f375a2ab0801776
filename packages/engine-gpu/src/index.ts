export { type WebglEngine, type WebglOptions, webglEngine } from './webgl/engine.js';
export { FLOAT_OPERATIONS, type FloatOperation } from './webgl/self-test.js';
export type { DeviceOptions } from './webgpu/device.js';
export { type WebgpuEngine, webgpuEngine } from './webgpu/engine.js';
export { OPERATIONS, type Operation } from './webgpu/self-test.js';
