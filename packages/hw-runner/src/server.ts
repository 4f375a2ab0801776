import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { type BitmmaError, CancelledError } from '@bitmma/core';
import { type Api, deviceArguments, errorOf, type HardwareOptions } from './executable.js';

interface Waiting {
  readonly resolve: (words: Uint8Array) => void;
  readonly reject: (error: Error) => void;
}

/**
 * One `bitmma-hw serve` process: requests in order, one device held open. Request and answer are what
 * `crates/bitmma-hw/src/commands/serve.rs` states.
 */
export class Server {
  private readonly child: ChildProcessWithoutNullStreams;
  private readonly waiting: Waiting[] = [];
  private received: Uint8Array[] = [];
  private have = 0;
  private stderr = '';
  private ended: BitmmaError | undefined;

  constructor(
    path: string,
    private readonly api: Api,
    options: HardwareOptions,
  ) {
    this.child = spawn(path, ['serve', ...deviceArguments(api, options)]);
    this.child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
    });
    this.child.stdout.on('data', (bytes: Uint8Array) => this.take(bytes));
    // A broken pipe shows as the end of the process, which says why.
    this.child.stdin.on('error', () => {});
    this.child.on('error', (error) => this.end(errorOf(1, error.message, api)));
    this.child.on('close', (code) => this.end(errorOf(code, this.stderr, api)));
    this.idle();
  }

  /** d of every record of a binary vector file, little-endian words. */
  request(...parts: readonly Uint8Array[]): Promise<Uint8Array> {
    if (this.ended) return Promise.reject(this.ended);
    return new Promise((resolve, reject) => {
      this.waiting.push({ resolve, reject });
      this.child.ref();
      const length = new Uint8Array(8);
      const total = parts.reduce((sum, part) => sum + part.length, 0);
      new DataView(length.buffer).setBigUint64(0, BigInt(total), true);
      this.child.stdin.write(length);
      for (const part of parts) this.child.stdin.write(part);
    });
  }

  /** Ends the process; requests that wait are rejected. */
  close(): void {
    this.end(new CancelledError('the device was closed'));
    this.child.stdin.end();
    this.child.kill();
  }

  /** An idle process does not keep the program alive. */
  private idle(): void {
    if (this.waiting.length === 0) this.child.unref();
    for (const stream of [this.child.stdin, this.child.stdout, this.child.stderr])
      (stream as unknown as { unref?: () => void }).unref?.();
  }

  private take(bytes: Uint8Array): void {
    this.received.push(bytes);
    this.have += bytes.length;
    while (this.have >= 9) {
      const all = this.joined();
      const length = Number(new DataView(all.buffer, all.byteOffset).getBigUint64(1, true));
      if (all.length < 9 + length) return;
      const payload = all.slice(9, 9 + length);
      this.received = [all.subarray(9 + length)];
      this.have = all.length - 9 - length;
      const next = this.waiting.shift();
      if (all[0] === 0) next?.resolve(payload);
      else next?.reject(errorOf(all[0], new TextDecoder().decode(payload), this.api));
      this.idle();
    }
  }

  private joined(): Uint8Array {
    if (this.received.length > 1) {
      const all = new Uint8Array(this.have);
      let at = 0;
      for (const part of this.received) {
        all.set(part, at);
        at += part.length;
      }
      this.received = [all];
    }
    return this.received[0];
  }

  private end(error: BitmmaError): void {
    this.ended ??= error;
    for (const { reject } of this.waiting.splice(0)) reject(this.ended);
  }
}
