import { type Outcome, runEverything } from '../suite/run.js';

/** What the test drives in the page. */
export interface Page {
  run(kernel: string, paths: readonly string[]): Promise<Outcome>;
  shared(): boolean;
}

async function read(path: string): Promise<string> {
  const response = await fetch(`/files/${path}`);
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  return response.text();
}

const page: Page = {
  run: (kernel, paths) => runEverything(kernel, { paths, read }),
  shared: () => typeof SharedArrayBuffer === 'function',
};
Object.assign(globalThis, { bitmma: page });
