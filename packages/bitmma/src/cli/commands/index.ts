import type { Register } from '../io.js';
import { compareCommand } from './compare.js';
import { conformanceCommand } from './conformance.js';
import { devicesCommand } from './devices.js';
import { dotCommand } from './dot.js';
import { explainCommand } from './explain.js';
import { gemmCommand } from './gemm.js';

import { pruneCommand } from './prune.js';
import { quantizeCommand } from './quantize.js';
import { verifyCommand } from './verify.js';

/** Every command, in the order of the help. */
export const COMMANDS: readonly Register[] = [
  devicesCommand,
  dotCommand,
  explainCommand,
  gemmCommand,
  compareCommand,
  verifyCommand,
  quantizeCommand,
  pruneCommand,
  conformanceCommand,
];
