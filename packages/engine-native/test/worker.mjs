// Attaches a token in a worker thread and runs the tiles it is sent.
import { parentPort, workerData } from 'node:worker_threads';
import { nativeEngine } from '../dist/index.js';

const { op, token, kernel, tiles } = workerData;
const session = await (await nativeEngine()).open(op, { kernel });
const loaded = await session.attach(token);
for (const tile of tiles) await session.tile(loaded, tile);
parentPort.postMessage(session.report().kernels);
