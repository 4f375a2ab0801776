/** `bin` of the tools' environment, for PATH; null: not installed. */
export function zigbuild(): string | null;
/** ptxas of CUDA 12 and of CUDA 13. */
export function ptxas12(): string | null;
export function ptxas13(): string | null;
export function nvdisasm(): string | null;
/** A clang that knows gfx942's FP8 instructions: 17 or later. */
export function clang(): string | null;
