import type { Engine } from '@bitmma/core';

/** An engine, or why this machine has none: the reason stands in the skipped suite's name. */
export type Attempt<E extends Engine> =
  | { readonly engine: E; readonly why: '' }
  | { readonly engine: null; readonly why: string };

export async function attempt<E extends Engine>(create: () => Promise<E>): Promise<Attempt<E>> {
  try {
    return { engine: await create(), why: '' };
  } catch (error) {
    if (process.env.BITMMA_REQUIRE_GPU_HOSTS) throw error;
    return { engine: null, why: ` (skipped: ${(error as Error).message})` };
  }
}
