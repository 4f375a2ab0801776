import { spawn } from 'node:child_process';

export interface Finished {
  readonly status: number | null;
  readonly output: string;
}

function start(command: string, args: readonly string[]): Promise<Finished> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk;
    });
    child.stderr.on('data', (chunk: Buffer) => {
      output += chunk;
    });
    child.on('error', reject);
    child.on('close', (status) => resolve({ status, output }));
  });
}

/** Runs `task` over the items, a few processes at a time. */
export async function pool<T>(
  items: readonly T[],
  task: (item: T) => readonly [string, readonly string[]],
  width = 3,
) {
  const results: Finished[] = new Array(items.length);
  let next = 0;
  const worker = async () => {
    while (next < items.length) {
      const at = next++;
      const [command, args] = task(items[at]);
      results[at] = await start(command, args);
    }
  };
  await Promise.all(Array.from({ length: width }, worker));
  return results;
}
