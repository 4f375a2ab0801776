/** What a long call tells its caller while it runs. The command line prints warnings and notes to stderr. */
export type Event =
  /** Said once per code and op: the evidence does not cover what is computed. */
  | {
      readonly kind: 'warning';
      readonly code: 'derived' | 'custom' | 'evidence-note';
      readonly message: string;
    }
  /** A choice made for the caller: default instruction, engine left out, cast applied. */
  | { readonly kind: 'note'; readonly message: string }
  | { readonly kind: 'progress'; readonly phase: string; readonly done: number; readonly total: number };

export type Listener = (event: Event) => void;

export const silent: Listener = () => {};
