import { InputError } from '@bitmma/core';
import { Command } from 'commander';
import { isFp8, resolveSplit, type SplitK } from '../../cublas/accumulate.js';
import type { ScaleTensor } from '../../cublas/checks.js';
import type { OutFormat } from '../../cublas/epilogue.js';
import { loadFp8Matrix, loadScale, loadSplitTable, toColumnMajor } from '../../cublas/files.js';
import type { Split } from '../../cublas/plan.js';
import type { Fp8 } from '../../cublas/presets.js';
import { findProfile } from '../../cublas/profiles.js';
import { scaledMm } from '../../cublas/scaled-mm.js';
import { lookUpSplit } from '../../cublas/split-table.js';
import { chooseEngine, ENGINE_IDS } from '../../engines.js';
import { checkOutputName, writeTensor } from '../../files/write.js';
import { hashWords } from '../../gemm/gemm.js';
import { type ScaledMmRun, writeManifest } from '../../manifest/manifest.js';
import { VERSION } from '../../version.js';
import type { Register } from '../io.js';
import { listenTo } from '../listen.js';
import { parseSplitK } from '../split-k.js';

interface Flags {
  scaleA: string;
  scaleB: string;
  scaleResult?: string;
  aFormat?: string;
  bFormat?: string;
  transB?: boolean;
  outDtype?: string;
  fastAccum?: boolean;
  splitK?: string;
  splitTable: string[];
  profile?: string;
  engine?: string;
  out?: string;
  manifest?: string;
  json?: boolean;
}

const OUTS: Readonly<Record<string, OutFormat>> = {
  fp32: 'fp32',
  f32: 'fp32',
  float32: 'fp32',
  bf16: 'bf16',
  bfloat16: 'bf16',
  fp16: 'fp16',
  f16: 'fp16',
  float16: 'fp16',
  e4m3: 'e4m3',
  float8_e4m3fn: 'e4m3',
  e5m2: 'e5m2',
  float8_e5m2: 'e5m2',
};

export const scaledMmCommand: Register = (io) =>
  new Command('scaled-mm')
    .description(
      "An FP8 GEMM with its epilogue as torch._scaled_mm runs it on cuBLAS: the profile's exact bits.",
    )
    .argument('<A>', 'M x K: .npy, .npz:MEMBER, .safetensors:TENSOR')
    .argument('<B>', "K x N, or N x K with --trans-b (torch's weight layout)")
    .requiredOption('--scale-a <scale>', 'a number, an fp32 word 0x########, or a file of one fp32 element')
    .requiredOption('--scale-b <scale>', 'likewise')
    .option('--scale-result <scale>', 'for FP8 outputs')
    .option('--a-format <format>', 'what 8-bit words of A are: e4m3 or e5m2')
    .option('--b-format <format>', 'what 8-bit words of B are')
    .option('--trans-b', 'B is stored N x K')
    .option('--out-dtype <format>', "fp32, bf16, fp16, e4m3, e5m2; default: A's format")
    .option('--fast-accum', 'one chain over K instead of a restart every 128')
    .option('--split-k <split>', 'auto (asks the tables), 1, S:serial, S:pairwise, S:contiguous', 'auto')
    .option('--split-table <file>', 'split-K decisions recorded on the GPU; repeatable', collect, [])
    .option('--profile <profile>', 'hopper (H100 PCIe, default) or ada (RTX 4060)')
    .option('--engine <engine>', `auto ${ENGINE_IDS.join(' ')}`)
    .option('--out <file>', 'writes D: .npy, .safetensors or .hex')
    .option('--manifest <file>', 'writes what was run, for verify')
    .option('--json', 'the report as JSON')
    .action(async (aName: string, bName: string, flags: Flags) => {
      if (flags.out !== undefined) checkOutputName(flags.out);
      const outDtype =
        flags.outDtype === undefined ? undefined : OUTS[flags.outDtype.replace(/^torch\./, '')];
      if (flags.outDtype !== undefined && outDtype === undefined)
        throw new InputError(`--out-dtype: expected fp32, bf16, fp16, e4m3 or e5m2, got ${flags.outDtype}`);
      const { signal } = io;
      const profile = findProfile(flags.profile);
      const splitK = parseSplitK(flags.splitK);
      const input = await loadFp8Matrix(aName, flags.aFormat, false, signal);
      let mat2 = await loadFp8Matrix(bName, flags.bFormat ?? flags.aFormat, flags.transB === true, signal);
      const stored = mat2;
      const console = listenTo(io);
      try {
        if (mat2.strides[0] !== 1) {
          console.on({ kind: 'note', message: `${bName} is copied to column-major, as cuBLAS needs it` });
          mat2 = toColumnMajor(mat2);
        }
        const formats = [input.format, mat2.format].map((f) => (isFp8(f) ? f : 'e4m3')) as [Fp8, Fp8];
        const op = profile.preset.op(...formats);
        const engine = await chooseEngine(flags.engine, op, console.on);
        const start = performance.now();
        const scales = {
          scaleA: await loadScale('--scale-a', flags.scaleA, signal),
          scaleB: await loadScale('--scale-b', flags.scaleB, signal),
          ...(flags.scaleResult !== undefined && {
            scaleResult: await loadScale('--scale-result', flags.scaleResult, signal),
          }),
        };
        const fastAccum = flags.fastAccum === true;
        const splitTables = await Promise.all(flags.splitTable.map(loadSplitTable));
        const out = await scaledMm(input, mat2, {
          ...scales,
          ...(outDtype !== undefined && { outDtype }),
          useFastAccum: fastAccum,
          splitK,
          splitTables,
          profile: profile.name,
          engine,
          signal,
          onWarning: (warning) => io.err(`warning: ${warning.message}\n`),
          onProgress: (done) =>
            console.on({ kind: 'progress', phase: profile.name, done: Math.round(done * 1000), total: 1000 }),
        });
        const seconds = (performance.now() - start) / 1000;
        if (flags.out !== undefined)
          await writeTensor(flags.out, { format: out.format, words: out.words, shape: out.shape });
        if (flags.manifest !== undefined) {
          const [m, k] = input.shape;
          const n = mat2.shape[1];
          const problem = { m, n, k, a: formats[0], b: formats[1], out: out.format, fastAccum };
          await writeManifest(flags.manifest, VERSION, [
            {
              kind: 'scaled-mm',
              op,
              a: { source: aName, shape: input.shape, words: input.words },
              b: { source: bName, shape: flags.transB === true ? [n, k] : [k, n], words: stored.words },
              options: {
                profile: profile.name,
                transB: flags.transB === true,
                aFormat: input.format,
                bFormat: mat2.format,
                fastAccum,
                // An empty problem returns before it asks for a split.
                splitK: splitOf(splitK, () =>
                  m * n * k === 0 ? { count: 1, scheme: null } : lookUpSplit(problem, profile, splitTables),
                ),
                scaleA: hex(scales.scaleA),
                scaleB: hex(scales.scaleB),
                ...(scales.scaleResult !== undefined && { scaleResult: hex(scales.scaleResult) }),
              },
              engine: engine.id,
              out,
              written: flags.out ?? null,
            },
          ]);
        }
        const report = {
          profile: profile.name,
          gpu: profile.gpu,
          engine: engine.id,
          shape: out.shape,
          k: input.shape[1],
          format: out.format,
          fastAccum,
          splitK,
          seconds,
          sha256: hashWords(out.words),
        };
        io.out(
          flags.json === true
            ? `${JSON.stringify(report)}\n`
            : `D = A x B on ${profile.gpu}: ${out.shape.join(' x ')} of ${out.format}, K = ${report.k}\n` +
                `  accumulation ${report.fastAccum ? 'fast' : 'slow, a restart every 128'}, split-K ${String(splitK)}\n` +
                `  engine       ${engine.id}, ${seconds.toPrecision(3)} s\n` +
                `  sha256       ${report.sha256}\n`,
        );
      } finally {
        console.close();
      }
    });

const hex = ({ words }: ScaleTensor) => `0x${words[0]!.toString(16).padStart(8, '0')}`;

function splitOf(splitK: SplitK, look: () => Split): ScaledMmRun['options']['splitK'] {
  const { count, scheme } = resolveSplit(splitK, look);
  return scheme === null ? 1 : [count, scheme];
}

function collect(value: string, list: string[]): string[] {
  return [...list, value];
}
