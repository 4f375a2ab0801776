import { Command } from 'commander';
import { checkOutputName, writeTensor } from '../../files/write.js';
import { gemmLoaded } from '../../gemm/gemm.js';
import { loadOperands } from '../../gemm/prepare.js';
import { streamGemm } from '../../gemm/stream.js';
import { writeManifest } from '../../manifest/manifest.js';
import { VERSION } from '../../version.js';
import type { Register } from '../io.js';
import { listenTo } from '../listen.js';
import {
  addDeviceOptions,
  addEngineOptions,
  addFormatOptions,
  addOperandOptions,
  gemmOperands,
  gemmOptions,
  type OperandFlags,
  type OpFlags,
} from '../options.js';
import { gemmJson, gemmText } from '../report.js';
import { streamJson, streamOptions, streamText } from '../stream-report.js';

interface Flags extends OpFlags, OperandFlags {
  outFormat?: string;
  out?: string;
  manifest?: string;
  statistics: boolean;
  memory?: string;
}

export const gemmCommand: Register = (io) =>
  addEngineOptions(addOperandOptions(addFormatOptions(addDeviceOptions(new Command('gemm')))))
    .description('D = A x B + C as the device computes it, from files to exact bits.')
    .argument('<A>', 'M x K: .npy, .npz:MEMBER, .safetensors:TENSOR, .hex')
    .argument('<B>', 'K x N, or N x K with --trans-b')
    .option('--out-format <format>', 'converts the result once at the end, RNE')
    .option('--out <file>', 'writes D: .npy, .safetensors or .hex')
    .option('--manifest <file>', 'writes what was run, for verify')
    .option('--no-statistics', 'leaves out the fp64 product')
    .option('--memory <size>', 'streams strips of the files within this budget (512M, 4G) to --out FILE.npy')
    .option('--json', 'the report as JSON')
    .action(async (a: string, b: string, flags: Flags) => {
      if (flags.out !== undefined) checkOutputName(flags.out);
      const console = listenTo(io);
      const operands = gemmOperands(a, b, flags);
      const options = {
        ...gemmOptions(flags),
        ...(flags.outFormat !== undefined && { outFormat: flags.outFormat }),
        statistics: flags.statistics,
        signal: io.signal,
        on: console.on,
      };
      if (flags.memory !== undefined) {
        const streamed = { ...options, ...streamOptions(flags) };
        const done = await streamGemm(a, b, streamed).finally(console.close);
        io.out(flags.json === true ? `${JSON.stringify(streamJson(done))}\n` : streamText(done));
        return;
      }
      const loaded = await loadOperands(operands, options, io.signal);
      const result = await gemmLoaded(loaded, options).finally(console.close);
      if (flags.out !== undefined)
        await writeTensor(flags.out, { format: result.format, words: result.words, shape: result.shape });
      if (flags.manifest !== undefined)
        await writeManifest(flags.manifest, VERSION, [
          { kind: 'gemm', operands, loaded, options, result, written: flags.out ?? null },
        ]);
      const written = [flags.out, flags.manifest].filter((file) => file !== undefined);
      io.out(flags.json === true ? gemmJson(result, written) : gemmText(result, written));
    });
