import type { MmaOp } from '@bitmma/core';
import type { Event, Listener } from '../events.js';

/** Wraps a listener so that the same warning about the same op is said once. */
export function onceOnly(listen: Listener): Listener {
  const said = new Set<string>();
  return (event: Event) => {
    if (event.kind === 'warning') {
      if (said.has(event.message)) return;
      said.add(event.message);
    }
    listen(event);
  };
}

/** Says what the evidence of an op does not cover: a datapath of the caller's own, derived rules, an untried c. */
export function warnOfEvidence(op: MmaOp, addsToC: boolean, listen: Listener): void {
  const { level, source, note } = op.evidence;
  const name = `${op.instruction} on ${op.device}`;
  if (op.device === 'custom') {
    listen({
      kind: 'warning',
      code: 'custom',
      message: `a datapath of your own (${op.datapath.kind}): no hardware is claimed`,
    });
    return;
  }
  if (level === 'derived')
    listen({
      kind: 'warning',
      code: 'derived',
      message: `${name} is derived, never checked on that device (${[source, note].filter(Boolean).join('; ')})`,
    });
  else if (addsToC && note?.includes('c = 0'))
    listen({
      kind: 'warning',
      code: 'evidence-note',
      message: `${name} was recorded with c = 0 alone; a C, or a K of more than one instruction, goes beyond that`,
    });
}
