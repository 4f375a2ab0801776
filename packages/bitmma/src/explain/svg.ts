import { describeDatapath } from '../describe.js';
import { bitAt, leadingExponent, power, shortNumber, toDouble } from './exact.js';
import { type Explanation, worstBlock } from './explain.js';
import { blockPanels, type PicturePanel, type PictureRow, rowNumber } from './rows.js';

const CELL = 10;
const LINE = 15;
const LEFT = 150;
const RIGHT = 190;
/** Columns shown below the lowest quantum, and in all. */
const TAIL = 20;
const MOST_COLUMNS = 92;

const COLOUR = {
  ink: '#1d2733',
  muted: '#6b7885',
  rule: '#d7dde3',
  product: ['#dbe7f4', '#2b6cb0'],
  addend: ['#d6efe6', '#16866a'],
  sum: ['#e9e4f5', '#6b46c1'],
  result: ['#e3e6ea', '#2d3748'],
  dropped: ['#fbe3de', '#d64530'],
} as const;

/** A block of an explanation as one self-contained SVG: every term's bits, kept and dropped, on one scale. */
export function explanationSvg(explanation: Explanation, chosen?: number): string {
  const at = chosen ?? worstBlock(explanation);
  const block = explanation.blocks[at];
  const parts: string[] = [];
  const panels = block === undefined ? [] : blockPanels(explanation, block);
  const scale = axis(panels);
  const width = Math.max(LEFT + scale.columns * CELL + RIGHT, 760);
  let y = header(parts, explanation, at, width);
  for (const panel of panels) y = drawPanel(parts, panel, scale, y, width);
  y = legend(parts, y);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${y}" width="${width}" height="${y}" font-family="ui-sans-serif, system-ui, 'Segoe UI', Helvetica, Arial, sans-serif" font-size="11" fill="${COLOUR.ink}">`,
    `<title>${escapeXml(`${explanation.op.device} ${explanation.op.instruction}: bits kept and dropped`)}</title>`,
    `<rect width="${width}" height="${y}" fill="#ffffff"/>`,
    ...parts,
    '</svg>\n',
  ].join('\n');
}

interface Axis {
  /** Exponent of the leftmost column. */
  readonly top: number;
  readonly columns: number;
}

function axis(panels: readonly PicturePanel[]): Axis {
  const rows = panels.flatMap((panel) => panel.rows);
  const tops = rows.map((row) => leadingExponent(row.value)).filter((e) => e !== null);
  if (tops.length === 0) return { top: 0, columns: 1 };
  const top = Math.max(...tops);
  const cuts = rows.map((row) => row.cut).filter((cut) => cut !== null);
  const quanta = panels.map((panel) => panel.quantum).filter((quantum) => quantum !== null);
  const lowest = Math.min(...rows.filter((row) => row.value.signed !== 0n).map(lowestBit));
  const bottom = cuts.length === 0 ? lowest : Math.max(lowest, Math.min(...cuts, ...quanta) - TAIL);
  return { top, columns: Math.max(1, Math.min(MOST_COLUMNS, top - Math.min(bottom, ...quanta) + 1)) };
}

/** Exponent of the lowest set bit. */
function lowestBit({ value }: PictureRow): number {
  let shift = 0;
  let rest = value.signed < 0n ? -value.signed : value.signed;
  while ((rest & 1n) === 0n) {
    rest >>= 1n;
    shift++;
  }
  return value.lsb + shift;
}

const text = (x: number, y: number, content: string, style = ''): string =>
  `<text x="${x}" y="${y}" ${style}>${escapeXml(content)}</text>`;

const escapeXml = (content: string): string =>
  content.replace(/[&<>"]/g, (mark) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[mark]!);

const MUTED = `fill="${COLOUR.muted}"`;
const MONO = `font-family="ui-monospace, 'DejaVu Sans Mono', Menlo, monospace" font-size="10"`;

function header(parts: string[], explanation: Explanation, at: number, width: number): number {
  const { op, blocks, losses } = explanation;
  const block = blocks[at];
  parts.push(text(20, 30, `${op.device}  ${op.instruction}`, 'font-size="16" font-weight="600"'));
  parts.push(text(20, 48, `${describeDatapath(op)}  ·  evidence: ${op.evidence.level}`, MUTED));
  const where = `row ${explanation.row}, column ${explanation.col}, K = ${explanation.k}`;
  parts.push(
    text(
      20,
      68,
      `${where}: 0x${explanation.d} = ${shortNumber(explanation.value, 9)} (fp64: ${shortNumber(explanation.fp64, 12)})`,
    ),
  );
  if (block === undefined) return 84;
  const loss = losses[at]!;
  const story =
    loss.dropped.signed === 0n
      ? 'alignment drops nothing'
      : `${loss.terms} terms lose bits, ${shortNumber(toDouble(loss.dropped))} dropped in all`;
  parts.push(
    text(
      20,
      86,
      `Block ${at} of ${blocks.length}, k ${block.k0} to ${block.k1 - 1}: ${story}`,
      'font-weight="600"',
    ),
  );
  return blocks.length > 1 ? chainStrip(parts, explanation, at, 98, width) : 100;
}

/** One bar a block: how much of the chain's result each block dropped, on a log scale; the block shown is framed. */
function chainStrip(
  parts: string[],
  { losses, blocks }: Explanation,
  at: number,
  y: number,
  width: number,
): number {
  const height = 34;
  const step = Math.min(16, (width - 40) / blocks.length);
  const sizes = losses.map(({ dropped }) => Math.abs(toDouble(dropped)));
  const logs = sizes.map((size) => (size === 0 ? Number.NEGATIVE_INFINITY : Math.log2(size)));
  const finite = logs.filter(Number.isFinite);
  const [low, high] = finite.length === 0 ? [0, 1] : [Math.min(...finite) - 1, Math.max(...finite)];
  parts.push(
    `<line x1="20" x2="${20 + step * blocks.length}" y1="${y + height}" y2="${y + height}" stroke="${COLOUR.rule}"/>`,
  );
  logs.forEach((log, i) => {
    const size = Number.isFinite(log) ? 3 + ((log - low) / Math.max(high - low, 1)) * (height - 4) : 0;
    const colour = i === at ? COLOUR.dropped[1] : '#e9a89c';
    parts.push(
      `<rect x="${(20 + i * step).toFixed(1)}" y="${(y + height - size).toFixed(1)}" width="${Math.max(step - 1.5, 0.5).toFixed(1)}" height="${size.toFixed(1)}" fill="${colour}"><title>block ${i}: k ${blocks[i]!.k0} to ${blocks[i]!.k1 - 1}, dropped ${shortNumber(toDouble(losses[i]!.dropped))}</title></rect>`,
    );
  });
  parts.push(
    text(20, y + height + 12, 'dropped by each block of the chain (log scale)', `${MUTED} font-size="9"`),
  );
  return y + height + 22;
}

function drawPanel(parts: string[], panel: PicturePanel, scale: Axis, top: number, width: number): number {
  let y = top + 16;
  parts.push(`<line x1="20" x2="${width - 20}" y1="${top}" y2="${top}" stroke="${COLOUR.rule}"/>`);
  parts.push(text(20, y, panel.title, 'font-weight="600"'));
  if (panel.rows.length === 0) return y + 10;
  y += 16;
  for (let column = 0; column < scale.columns; column += 8)
    parts.push(
      text(
        LEFT + column * CELL + CELL / 2,
        y,
        power(scale.top - column),
        `${MUTED} font-size="9" text-anchor="middle"`,
      ),
    );
  y += 4;
  const first = y;
  for (const row of panel.rows) {
    drawRow(parts, row, scale, y);
    y += LINE;
  }
  const quantumColumn = panel.quantum === null ? -1 : scale.top - panel.quantum + 1;
  if (quantumColumn > 0 && quantumColumn <= scale.columns) {
    const x = LEFT + quantumColumn * CELL;
    parts.push(
      `<line x1="${x}" x2="${x}" y1="${first - 3}" y2="${y}" stroke="${COLOUR.dropped[1]}" stroke-width="1.5" stroke-dasharray="3 2"/>`,
    );
  }
  return y + 8;
}

function drawRow(parts: string[], row: PictureRow, scale: Axis, y: number): void {
  const base = y + 11;
  const strong = row.tone === 'sum' || row.tone === 'result';
  parts.push(text(20, base, row.label, strong ? 'font-weight="600"' : ''));
  parts.push(text(62, base, row.words, `${MONO} ${MUTED}`));
  parts.push(
    text(
      LEFT - 8,
      base,
      row.value.signed < 0n ? '−' : row.value.signed > 0n ? '+' : '0',
      'text-anchor="end" font-weight="600"',
    ),
  );
  const [faint, full] = COLOUR[row.tone];
  const leading = leadingExponent(row.value);
  if (leading !== null) {
    const lowest = Math.min(lowestBit(row), row.cut ?? Number.POSITIVE_INFINITY);
    for (let column = Math.max(0, scale.top - leading); column < scale.columns; column++) {
      const position = scale.top - column;
      if (position < lowest) break;
      const dropped = row.cut !== null && position < row.cut;
      const on = bitAt(row.value, position);
      const colour = dropped ? COLOUR.dropped[on ? 1 : 0] : on ? full : faint;
      parts.push(
        `<rect x="${LEFT + column * CELL}" y="${y + 1}" width="${CELL - 1}" height="${LINE - 3}" rx="1.5" fill="${colour}"/>`,
      );
    }
    if (lowest <= scale.top - scale.columns) {
      const gone = leading <= scale.top - scale.columns;
      const note = gone ? `← all of it below, ${power(leading)}` : '…';
      const x = gone ? LEFT + scale.columns * CELL - 4 : LEFT + scale.columns * CELL + 3;
      parts.push(
        text(x, base, note, `fill="${COLOUR.dropped[1]}" font-size="9" ${gone ? 'text-anchor="end"' : ''}`),
      );
    }
  }
  const lost = row.cut !== null && leading !== null && lowestBit(row) < row.cut;
  parts.push(
    text(
      LEFT + scale.columns * CELL + 18,
      base,
      rowNumber(row),
      strong ? 'font-weight="600"' : lost ? `fill="${COLOUR.dropped[1]}"` : '',
    ),
  );
}

function legend(parts: string[], top: number): number {
  const y = top + 12;
  let x = 20;
  const item = (colour: string, label: string) => {
    parts.push(
      `<rect x="${x}" y="${y - 9}" width="${CELL - 1}" height="${LINE - 4}" rx="1.5" fill="${colour}"/>`,
    );
    parts.push(text(x + 14, y, label, MUTED));
    x += 26 + label.length * 6;
  };
  item(COLOUR.product[1], 'product bit kept');
  item(COLOUR.addend[1], 'accumulator bit kept');
  item(COLOUR.sum[1], 'sum');
  item(COLOUR.result[1], 'result');
  item(COLOUR.dropped[1], 'bit dropped');
  parts.push(text(x, y, 'pale: a zero bit', MUTED));
  return y + 16;
}
