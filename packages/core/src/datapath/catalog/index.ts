import type { MmaOp } from '../op.js';
import { ada } from './ada.js';
import { ampere } from './ampere.js';
import { blackwell } from './blackwell.js';
import { blackwellConsumer } from './blackwell-consumer.js';
import { cdna1 } from './cdna1.js';
import { cdna2 } from './cdna2.js';
import { cdna3 } from './cdna3.js';
import { hopper } from './hopper.js';
import type { Entry } from './row.js';
import { turing } from './turing.js';
import { volta } from './volta.js';

/** Every device x instruction with the spellings that name it. */
export const ENTRIES: readonly Entry[] = Object.freeze([
  ...volta,
  ...turing,
  ...ampere,
  ...ada,
  ...hopper,
  ...blackwell,
  ...blackwellConsumer,
  ...cdna1,
  ...cdna2,
  ...cdna3,
]);

const OPS: readonly MmaOp[] = Object.freeze(ENTRIES.map((entry) => entry.op));

/** Every op the project knows: numerics sections 5 to 7, deep-frozen. */
export const catalog = (): readonly MmaOp[] => OPS;
