import { Presets, SingleBar } from 'cli-progress';
import type { Listener } from '../events.js';
import type { Io } from './io.js';

/** A run shorter than this shows no bar. */
const BAR_AFTER_MS = 700;

export interface Console {
  readonly on: Listener;
  /** Takes the bar away. */
  readonly close: () => void;
}

/** Warnings and notes to stderr, a progress bar where the work lasts and a terminal shows it. */
export function listenTo(io: Io): Console {
  let bar: SingleBar | null = null;
  let phase = '';
  let since = 0;
  const said = new Set<string>();
  const close = () => {
    bar?.stop();
    bar = null;
  };
  return {
    close,
    on: (event) => {
      if (event.kind === 'progress') {
        if (!io.terminal) return;
        if (event.phase !== phase) {
          close();
          phase = event.phase;
          since = Date.now();
        }
        if (bar === null && event.done < event.total && Date.now() - since > BAR_AFTER_MS) {
          bar = new SingleBar(
            {
              format: `${phase} {bar} {percentage}% {eta_formatted} left`,
              clearOnComplete: true,
              hideCursor: true,
            },
            Presets.shades_classic,
          );
          bar.start(event.total, event.done);
        }
        bar?.update(event.done);
        if (event.done >= event.total) close();
        return;
      }
      if (said.has(event.message)) return;
      said.add(event.message);
      close();
      io.err(`${event.kind}: ${event.message}\n`);
    },
  };
}
