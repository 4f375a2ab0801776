import { describeDatapath } from '../describe.js';
import { shortNumber, toDouble } from './exact.js';
import { type Explanation, worstBlock } from './explain.js';
import { explanationSvg } from './svg.js';

/** Blocks drawn in one page: the whole of a short chain, else the ones that dropped most. */
const MOST_BLOCKS = 40;

/** A self-contained page: every block of the chain as a picture, the one that dropped most open. */
export function explanationHtml(explanation: Explanation): string {
  const { op, blocks, losses } = explanation;
  const worst = worstBlock(explanation);
  const shown = blocks
    .map((_, i) => i)
    .sort((x, y) => Math.abs(toDouble(losses[y]!.dropped)) - Math.abs(toDouble(losses[x]!.dropped)))
    .slice(0, MOST_BLOCKS)
    .sort((x, y) => x - y);
  const sections = shown.map((i) => {
    const { terms, dropped } = losses[i]!;
    const summary = `Block ${i}, k ${blocks[i]!.k0} to ${blocks[i]!.k1 - 1}: ${terms} terms cut, ${shortNumber(toDouble(dropped))} dropped`;
    return `<details${i === worst ? ' open' : ''}><summary>${summary}</summary>\n${explanationSvg(explanation, i)}</details>`;
  });
  const title = `${op.device}, row ${explanation.row}, column ${explanation.col}`;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>bitmma: ${title}</title>
<style>
body { font: 15px/1.5 ui-sans-serif, system-ui, 'Segoe UI', Helvetica, Arial, sans-serif; color: #1d2733; background: #f4f6f8; margin: 0; padding: 32px; }
main { max-width: 1240px; margin: 0 auto; }
h1 { font-size: 24px; margin: 0 0 4px; } p { margin: 4px 0 20px; color: #52606d; }
details { background: #fff; border: 1px solid #d7dde3; border-radius: 8px; margin: 8px 0; overflow-x: auto; }
summary { cursor: pointer; padding: 10px 16px; } svg { display: block; }
</style></head><body><main>
<h1>${title}: 0x${explanation.d} = ${shortNumber(explanation.value, 9)}</h1>
<p>${op.instruction} (${describeDatapath(op)}), K = ${explanation.k}. fp64 gives ${shortNumber(explanation.fp64, 12)}.
Evidence: ${[op.evidence.level, op.evidence.source].join(', ').replace(/</g, '&lt;')}.${
    shown.length < blocks.length
      ? ` ${shown.length} of ${blocks.length} blocks, those that dropped most.`
      : ''
  }</p>
${sections.join('\n')}
</main></body></html>
`;
}
