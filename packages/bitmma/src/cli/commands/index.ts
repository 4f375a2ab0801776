import type { Register } from '../io.js';
import { conformanceCommand } from './conformance.js';
import { devicesCommand } from './devices.js';
import { dotCommand } from './dot.js';
import { gemmCommand } from './gemm.js';

/** Every command, in the order of the help. */
export const COMMANDS: readonly Register[] = [devicesCommand, dotCommand, gemmCommand, conformanceCommand];
