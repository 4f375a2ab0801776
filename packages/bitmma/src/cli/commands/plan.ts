import { InputError } from '@bitmma/core';
import { Command } from 'commander';
import { resolveSplit } from '../../cublas/accumulate.js';
import { describePlan, makePlan } from '../../cublas/plan.js';
import { findPreset } from '../../cublas/presets.js';
import { findProfile } from '../../cublas/profiles.js';
import type { Register } from '../io.js';
import { parseSplitK } from '../split-k.js';

interface Flags {
  k: string;
  profile?: string;
  preset?: string;
  fastAccum?: boolean;
  splitK?: string;
  json?: boolean;
}

export const planCommand: Register = (io) =>
  new Command('plan')
    .description(
      'The accumulation plan of an FP8 GEMM on cuBLAS: its chains of k and the order of their additions.',
    )
    .requiredOption('--k <depth>', 'K of the GEMM')
    .option('--profile <profile>', 'hopper (H100 PCIe, default) or ada (RTX 4060)')
    .option('--preset <preset>', 'in place of a profile: ada, hopper, b200_mma_sync')
    .option('--fast-accum', 'one chain over K instead of a restart every 128')
    .option('--split-k <split>', '1, or S:serial, S:pairwise (ada), S:contiguous (hopper)', '1')
    .option('--json', 'the plan as data')
    .action((flags: Flags) => {
      if (!/^\d{1,9}$/.test(flags.k)) throw new InputError(`--k: expected a whole number, got ${flags.k}`);
      const preset =
        flags.preset === undefined ? findProfile(flags.profile).preset : findPreset(flags.preset);
      const split = resolveSplit(parseSplitK(flags.splitK), () => {
        throw new InputError(
          '--split-k: expected 1 or S:scheme, got auto; the shape alone does not decide it',
        );
      });
      const plan = makePlan({ preset, k: Number(flags.k), useFastAccum: flags.fastAccum === true, split });
      for (const warning of plan.warnings) io.err(`warning: ${warning.message}\n`);
      io.out(
        flags.json === true
          ? `${JSON.stringify({ preset: preset.name, ...plan })}\n`
          : `${describePlan(plan)}\n`,
      );
    });
