// node examples/node.mjs [device instruction]: the same products in Node, a line an instruction.
import { INSTRUCTIONS, product } from './product.mjs';

const [device, instruction] = process.argv.slice(2);
for (const [dev, name] of instruction ? [[device, instruction]] : INSTRUCTIONS)
  console.log(`${(await product(dev, name)).sha256}  ${dev} ${name}`);
