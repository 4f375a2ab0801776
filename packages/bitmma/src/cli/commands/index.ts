import type { Register } from '../io.js';
import { appCommand } from './app.js';
import { compareCommand } from './compare.js';
import { conformanceCommand } from './conformance.js';
import { devicesCommand } from './devices.js';
import { distinguishCommand } from './distinguish.js';
import { dotCommand } from './dot.js';
import { explainCommand } from './explain.js';
import { gemmCommand } from './gemm.js';
import { identifyCommand } from './identify.js';
import { planCommand } from './plan.js';
import { probeCommand } from './probe.js';
import { pruneCommand } from './prune.js';
import { quantizeCommand } from './quantize.js';
import { recordCommand } from './record.js';
import { scaledMmCommand } from './scaled-mm.js';
import { verifyCommand } from './verify.js';

/** Every command, in the order of the help. */
export const COMMANDS: readonly Register[] = [
  devicesCommand,
  dotCommand,
  explainCommand,
  gemmCommand,
  compareCommand,
  scaledMmCommand,
  planCommand,
  verifyCommand,
  quantizeCommand,
  pruneCommand,
  conformanceCommand,
  recordCommand,
  appCommand,
  probeCommand,
  distinguishCommand,
  identifyCommand,
];
