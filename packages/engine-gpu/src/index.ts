export { type WebgpuEngine, webgpuEngine } from './webgpu/engine.js';
export type { DeviceOptions } from './webgpu/device.js';
export { OPERATIONS, type Operation } from './webgpu/self-test.js';
