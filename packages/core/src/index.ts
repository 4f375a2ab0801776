export * from './datapath/datapath.js';
export * from './datapath/op.js';
export * from './engine/check.js';
export * from './engine/engine.js';
export * from './errors.js';
export * from './formats/format.js';
export * from './formats/table.js';
export * from './formats/words.js';
