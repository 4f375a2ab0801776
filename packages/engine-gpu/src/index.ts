export type { DeviceOptions } from './webgpu/device.js';
export { type WebgpuEngine, webgpuEngine } from './webgpu/engine.js';
export { OPERATIONS, type Operation } from './webgpu/self-test.js';
