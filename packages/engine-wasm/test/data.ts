import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Folder of the recordings and vectors; tests that need it are skipped where it is absent. */
export const DATA = process.env.BITMMA_DATA ?? new URL('../../../../shared', import.meta.url).pathname;
export const DATA_PATHS = ['recordings', 'vectors'].map((name) => join(DATA, name));
export const hasData = DATA_PATHS.every((path) => existsSync(path));
