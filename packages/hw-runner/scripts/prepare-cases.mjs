// Writes the seeded inputs that scripts/record-all runs: node scripts/prepare-cases.mjs DIR DEVICE… [--cases N] [--seed N]
import { parseArgs } from 'node:util';
import { prepareCases } from '../dist/index.js';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { cases: { type: 'string', default: '3000' }, seed: { type: 'string', default: '1' } },
});
const [folder, ...devices] = positionals;
if (!folder || devices.length === 0) {
  console.error('usage: node scripts/prepare-cases.mjs DIR DEVICE… [--cases N] [--seed N]');
  process.exit(2);
}
try {
  for (const device of devices) {
    const files = await prepareCases(device, folder, {
      cases: Number(values.cases),
      seed: Number(values.seed),
    });
    console.log(`${device}: ${files.length} files in ${folder}`);
  }
} catch (error) {
  console.error(error.message);
  process.exit(2);
}
