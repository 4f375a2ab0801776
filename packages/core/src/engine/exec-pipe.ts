/** The exec engine's pipe: a child process, its lines, its timeout. Node only. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { BitmmaError, CancelledError } from '../errors.js';

/** The program died, hung, or answered something other than the next vector with a d. */
export class ExecError extends BitmmaError {}

/** A program to start, without a shell. */
export interface Command {
  readonly command: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** One running program: lines in, lines out. */
export class Pipe {
  private readonly child: ChildProcessWithoutNullStreams;
  private readonly lines: string[] = [];
  private rest = '';
  private stderr = '';
  private ended: string | null = null;
  private wake: (() => void) | null = null;

  constructor(
    private readonly name: string,
    options: Command,
    private readonly timeout: number,
    private readonly signal?: AbortSignal,
  ) {
    this.child = spawn(options.command, options.args ?? [], {
      stdio: 'pipe',
      env: { ...process.env, ...options.env },
    });
    this.child.stdout.setEncoding('utf8');
    this.child.stderr.setEncoding('utf8');
    this.child.stdout.on('data', (text: string) => this.receive(text));
    this.child.stderr.on('data', (text: string) => {
      this.stderr = (this.stderr + text).slice(-2000);
    });
    this.child.on('error', (error) => this.end(error.message));
    this.child.on('close', (code, signalName) =>
      this.end(signalName ? `ended by ${signalName}` : `ended with status ${code}`),
    );
    this.child.stdin.on('error', () => {});
    this.signal?.addEventListener('abort', this.abort, { once: true });
  }

  private readonly abort = () => {
    this.child.kill('SIGKILL');
    this.wake?.();
  };

  private receive(text: string): void {
    const parts = (this.rest + text).split('\n');
    this.rest = parts.pop()!;
    for (const part of parts) if (part.trim() !== '') this.lines.push(part);
    this.wake?.();
  }

  private end(how: string): void {
    if (this.ended === null) {
      if (this.rest.trim() !== '') this.lines.push(this.rest);
      this.ended = how;
    }
    this.wake?.();
  }

  get error(): string | null {
    return this.ended;
  }

  async write(text: string): Promise<void> {
    if (this.ended !== null || this.child.stdin.write(text)) return;
    await new Promise<void>((resolve) => {
      const done = () => {
        this.child.stdin.off('drain', done);
        this.child.off('close', done);
        resolve();
      };
      this.child.stdin.once('drain', done);
      this.child.once('close', done);
    });
  }

  /** The next line for vector `id`. */
  async next(id: string): Promise<string> {
    const deadline = Date.now() + this.timeout;
    for (;;) {
      if (this.signal?.aborted) throw new CancelledError(`${this.name} stopped`);
      const line = this.lines.shift();
      if (line !== undefined) return line;
      if (this.ended !== null) {
        const said = this.stderr.trim();
        throw new ExecError(
          `${this.name}: expected an answer for ${id}, the program ${this.ended}${said ? `: ${said}` : ''}`,
        );
      }
      const left = deadline - Date.now();
      if (left <= 0) {
        this.child.kill('SIGKILL');
        throw new ExecError(`${this.name}: expected an answer for ${id} within ${this.timeout} ms, got none`);
      }
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left);
        this.wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.wake = null;
    }
  }

  /** Ends the input; a program that keeps running is killed after the timeout. Extra output is an error. */
  async close(): Promise<void> {
    this.signal?.removeEventListener('abort', this.abort);
    if (this.ended === null) {
      this.child.stdin.end();
      const timer = setTimeout(() => this.child.kill('SIGKILL'), Math.min(this.timeout, 2000));
      await new Promise<void>((resolve) => {
        if (this.ended !== null) resolve();
        else this.child.once('close', () => resolve());
      });
      clearTimeout(timer);
    }
    if (this.lines.length > 0 && !this.signal?.aborted)
      throw new ExecError(
        `${this.name}: expected no more answers, got ${JSON.stringify(this.lines[0].slice(0, 80))}`,
      );
  }

  /** Kills the program, for use after an error. */
  abandon(): void {
    this.child.kill('SIGKILL');
    this.lines.length = 0;
  }
}
