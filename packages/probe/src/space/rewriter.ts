/** A datapath's fields while the rules of its kind replace them by canonical values, each with the proof. */
import type { Output } from '@bitmma/core';

export interface Rewrite {
  readonly field: string;
  readonly reason: string;
}

export type Fields = Record<string, unknown> & { output: Output };

export class Rewriter {
  readonly rewrites: Rewrite[] = [];
  constructor(readonly fields: Fields) {}

  set(field: string, value: unknown, reason: string): void {
    const [outer, inner] = field.split('.');
    const holder = inner === undefined ? this.fields : (this.fields[outer] as Record<string, unknown>);
    const key = inner ?? outer;
    if (holder[key] === value) return;
    if (inner === undefined) this.fields[outer] = value;
    else this.fields[outer] = { ...holder, [inner]: value };
    this.rewrites.push({ field, reason });
  }

  number(field: string): number {
    return this.fields[field] as number;
  }
}
