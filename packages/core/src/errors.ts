/** Base of every error this project throws: one sentence that says what was expected, what came, and where. */
export class BitmmaError extends Error {
  override readonly name: string = this.constructor.name;
}

/** A word, shape, stride, file or option that does not fit what was asked of it. */
export class InputError extends BitmmaError {}

/** A device, instruction, format or engine name that is not known; `nearest` lists the closest known ones. */
export class UnknownNameError extends BitmmaError {
  constructor(
    message: string,
    readonly nearest: readonly string[],
  ) {
    super(message);
  }
}

/** Real hardware whose arithmetic nobody has characterised; never mapped to a neighbour. */
export class UncharacterisedError extends BitmmaError {}

/** A datapath that contradicts itself; `field` names where. */
export class DatapathError extends BitmmaError {
  constructor(
    message: string,
    readonly field: string,
  ) {
    super(message);
  }
}

/** An engine that this machine cannot run; `remedy` says how to get it. */
export class EngineUnavailableError extends BitmmaError {
  constructor(
    readonly engine: string,
    readonly reason: string,
    readonly remedy: string,
  ) {
    super(`engine ${engine} is not available: ${reason}; ${remedy}`);
  }
}

/** An op, kernel or request outside what an engine declares that it supports. */
export class UnsupportedError extends BitmmaError {}

/** Work stopped by its AbortSignal. */
export class CancelledError extends BitmmaError {}
