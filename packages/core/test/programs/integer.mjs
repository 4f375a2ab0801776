// Reads vectors without d, answers with d: sums of 8-bit products modulo 2^32. Argument: a fault to show.
import { createInterface } from 'node:readline';

const fault = process.argv[2];
let count = 0;
const byte = (text, signed) => {
  const value = Number.parseInt(text, 16);
  return signed && value > 127 ? value - 256 : value;
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, instruction, a, b, c } = JSON.parse(line);
  const [, left, right] = /s32\.([su])8\.([su])8/.exec(instruction);
  const as = a.split(' ');
  const bs = b.split(' ');
  let sum = BigInt(Number.parseInt(c, 16));
  as.forEach((word, i) => {
    sum += BigInt(byte(word, left === 's') * byte(bs[i], right === 's'));
  });
  const d = BigInt.asUintN(32, sum).toString(16).padStart(8, '0');
  count++;
  if (fault === 'few' && count > 2) continue;
  if (fault === 'die' && count === 3) {
    process.stderr.write('out of tensor cores\n');
    process.exit(3);
  }
  if (fault === 'hang' && count === 3) await new Promise((resolve) => setTimeout(resolve, 60_000));
  if (fault === 'text') process.stdout.write('hello\n');
  if (fault === 'null') process.stdout.write('null\n');
  process.stdout.write(
    `${JSON.stringify({
      id: fault === 'id' && count === 2 ? 'other' : id,
      d:
        fault === 'word'
          ? d.slice(1)
          : fault === 'number'
            ? 7
            : fault === 'wrong' && count === 2
              ? '00000000'
              : d,
    })}\n`,
  );
}
if (fault === 'extra') process.stdout.write('{"id":"more","d":"00000000"}\n');
