export * from './cast.js';
export * from './decode.js';
export * from './element.js';
export * from './encode.js';
export * from './format.js';
export * from './round.js';
export * from './table.js';
export * from './words.js';
