import { BitmmaError } from '@bitmma/core';

/**
 * A run on real hardware that gave no trustworthy words: a fault or hang (`device`), lane probes that failed
 * (`probe`), or output elements that disagree (`position`). Never an arithmetic mismatch.
 */
export class HardwareError extends BitmmaError {
  constructor(
    message: string,
    readonly what: 'device' | 'probe' | 'position',
  ) {
    super(message);
  }
}
