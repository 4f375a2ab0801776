export * from './dtype.js';
export { hexWord, openHex, parseHexWord } from './hex.js';
export { openNpy } from './npy.js';
export { npzMembers, openNpzMember } from './npz.js';
export * from './open.js';
export { openSafetensor, readSafetensorsHeader } from './safetensors.js';
export { type ByteSource, FileError, memorySource, openFile } from './source.js';
export * from './tensor.js';
export * from './write.js';
