import { BitmmaError, InputError } from '@bitmma/core';

/** The contract's TypeError: an argument of the wrong type, or a format that dot() and accumulate() do not take. */
export class ContractTypeError extends InputError {}

/** The contract's ValueError: operands that do not fit each other, or a split scheme of another preset. */
export class ContractValueError extends InputError {}

/** torch 2.7.1 or the profile's cuBLAS refuses the call. */
export class ReferenceRejectsError extends InputError {}

/** A call that torch accepts and the contract does not characterise: bias, row-wise scales, preset gaps. */
export class UnsupportedFeatureError extends BitmmaError {}

/** splitK 'auto' where the profile's table does not have the problem. */
export class SplitKUnknownError extends BitmmaError {}

/** The host flushes subnormals to zero, which would change the epilogue. */
export class FlushToZeroError extends BitmmaError {}

/** A warning of the contract, delivered as an event. */
export interface ContractWarning {
  readonly kind: 'experimental' | 'unverified-split' | 'out-resized' | 'out-strided';
  readonly message: string;
}

export type OnWarning = (warning: ContractWarning) => void;
