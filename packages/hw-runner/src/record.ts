import { spawn } from 'node:child_process';
import { type Api, deviceArguments, errorOf, executablePath, type HardwareOptions } from './executable.js';

export interface RecordOptions extends HardwareOptions {
  /** Vector file, JSON Lines or binary; `-`: standard input. */
  readonly in: string;
  /** File to write; `-`: standard output. */
  readonly out: string;
  /** The first of CUDA and HIP that has the device. */
  readonly api?: Api;
  /** Form of the output; the input's. */
  readonly format?: 'jsonl' | 'binary';
  /** Catalog id of the device, where its own name does not tell. */
  readonly device?: string;
  /** JSON Lines of cases whose output elements disagreed. */
  readonly faults?: string;
  /** JSON summary: device, opcodes, probes, counts. */
  readonly report?: string;
  /** Leave out cases of instructions that the device lacks. */
  readonly skipUnsupported?: boolean;
}

/**
 * Runs a vector file on a GPU: `bitmma record --gpu 0 --in vectors.jsonl --out recorded.jsonl`. Standard streams are
 * the caller's where `in` or `out` is `-`. Resolves to the summary line.
 * @throws InputError for a bad file; EngineUnavailableError without executable, driver, device or instruction;
 * HardwareError for a fault, a hang, failed probes or position failures (finished cases are in `out`).
 */
export function record(options: RecordOptions): Promise<string> {
  const path = executablePath(options.api ?? 'cuda', options);
  const option = (name: string, value: string | undefined) =>
    value === undefined ? [] : [`--${name}`, value];
  const args = [
    'record',
    ...['--in', options.in, '--out', options.out],
    ...deviceArguments(options.api, options),
    ...option('format', options.format),
    ...option('device', options.device),
    ...option('faults', options.faults),
    ...option('report', options.report),
    ...(options.skipUnsupported ? ['--skip-unsupported'] : []),
  ];
  return new Promise((resolve, reject) => {
    const child = spawn(path, args, { stdio: ['inherit', 'inherit', 'pipe'] });
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    child.on('error', reject);
    child.on('close', (code) => {
      const lines = stderr.trim().split('\n');
      if (code === 0) resolve(lines.at(-1) ?? '');
      else reject(errorOf(code, lines.at(-1) ?? '', options.api ?? 'cuda'));
    });
  });
}
