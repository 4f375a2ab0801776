import { INSTRUCTIONS, product, SIZE } from './product.mjs';

const select = document.querySelector('select');
const show = (id, text) => {
  document.getElementById(id).textContent = text;
};
for (const [device, instruction] of INSTRUCTIONS) select.append(new Option(`${device} ${instruction}`));

async function run() {
  show('sha256', '…');
  const [device, instruction] = INSTRUCTIONS[select.selectedIndex];
  const { kernel, milliseconds, words, sha256 } = await product(device, instruction);
  show('shape', `${SIZE} x ${SIZE} x ${SIZE}, kernel ${kernel}, ${milliseconds.toFixed(1)} ms`);
  show('words', [...words.slice(0, 8)].map((word) => word.toString(16).padStart(8, '0')).join(' '));
  show('node', `node examples/node.mjs ${device} ${instruction}`);
  show('sha256', sha256);
}

select.addEventListener('change', run);
await run();
