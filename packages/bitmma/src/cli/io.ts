import type { Command } from 'commander';

/** Where a command writes, so that tests run it in process. */
export interface Io {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Raised by Ctrl-C. */
  readonly signal: AbortSignal;
  /** Whether stderr is a terminal that shows a progress bar. */
  readonly terminal: boolean;
}

export const processIo = (signal: AbortSignal): Io => ({
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  signal,
  terminal: process.stderr.isTTY === true,
});

/** Makes one subcommand; `exit` sets the exit code of a command that finished with a no. */
export type Register = (io: Io, exit: (code: number) => void) => Command;
