export { wasmEngine } from './engine.js';
