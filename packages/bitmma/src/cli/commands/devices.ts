import { catalog, catalogHash, findDevice } from '@bitmma/core';
import { Command } from 'commander';
import { summarise } from '../../describe.js';
import { ENGINES } from '../../engines.js';
import { textTable } from '../../table.js';
import type { Register } from '../io.js';

export const devicesCommand: Register = (io) =>
  new Command('devices')
    .description(
      'Devices, their instructions and the arithmetic of each, with its evidence; then the engines here.',
    )
    .option('--device <device>', 'one device')
    .option('--json', 'as JSON')
    .action(async (flags: { device?: string; json?: boolean }) => {
      const only = flags.device === undefined ? undefined : findDevice(flags.device).id;
      const ops = catalog().filter((op) => only === undefined || op.device === only);
      const rows = ops.map((op) => ({
        ...summarise(op),
        source: op.evidence.source,
        note: op.evidence.note ?? null,
      }));
      const engines = (await ENGINES.probe()).map((found) => ({
        id: found.id,
        about: found.about,
        available: 'engine' in found,
        reason: 'error' in found ? found.error.message : null,
      }));
      if (flags.json === true) {
        io.out(`${JSON.stringify({ catalogHash: catalogHash(), ops: rows, engines }, null, 2)}\n`);
        return;
      }
      io.out(
        textTable(
          ['device', 'instruction', 'family', 'N', 'F', 'rounding', 'evidence'],
          rows.map((row) => [
            row.device,
            row.instruction,
            row.family,
            String(row.n ?? ''),
            String(row.f ?? ''),
            row.rounding,
            row.evidence,
          ]),
        ),
      );
      io.out(
        `\n${textTable(
          ['engine', 'here'],
          engines.map((e) => [e.id, e.reason ?? e.about]),
        )}`,
      );
    });
