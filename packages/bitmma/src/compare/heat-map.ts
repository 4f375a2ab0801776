import { engineering } from '../table.js';
import type { Comparison } from './compare.js';

/** Cells of a map at most; larger results show the largest distance of each cell's elements. */
const MOST_COLUMNS = 160;
const MOST_ROWS = 96;
/** Levels between 1 ulp and the largest distance of any pair, evenly on a log scale. */
const COLOURS = ['#fde8d0', '#fdd0a2', '#fdae6b', '#f98e52', '#ef6548', '#d7301f', '#a50f15', '#67000d'];
const NOT_FINITE = '#6b46c1';

/** A self-contained SVG: for every pair, where in the result its words differ and how far. */
export function heatMapSvg(comparison: Comparison, title: string): string {
  const { rows, cols, pairs } = comparison;
  const gridRows = Math.min(rows, MOST_ROWS);
  const gridCols = Math.min(cols, MOST_COLUMNS);
  const cell = Math.max(3, Math.min(14, Math.floor(860 / gridCols), Math.floor(260 / gridRows)));
  const [width, height] = [Math.max(gridCols * cell + 60, 720), gridRows * cell];
  const heading = title.replace(/&/g, '&amp;').replace(/</g, '&lt;');
  const levels = levelsOf(Math.max(1, ...pairs.map(({ difference }) => difference.maxUlp)));
  const parts: string[] = [];
  let y = 62;
  for (const { left, right, difference } of pairs) {
    const share = ((100 * difference.different) / Math.max(difference.words, 1)).toPrecision(3);
    const story =
      difference.different === 0
        ? 'every word is equal'
        : `${difference.different} of ${difference.words} words differ (${share} %), at most ${difference.maxUlp} ulp`;
    parts.push(
      `<text x="30" y="${y}" font-size="13"><tspan font-weight="600">${left} against ${right}</tspan>: ${story}</text>`,
    );
    parts.push(`<g transform="translate(30 ${y + 10})">`);
    parts.push(`<rect width="${gridCols * cell}" height="${height}" fill="#f3f5f7"/>`);
    parts.push(...layers(difference.ulps, levels, rows, cols, gridRows, gridCols, cell), '</g>');
    y += height + 48;
  }
  parts.push(legend(levels, y - 8));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${y + 24}" width="${width}" height="${y + 24}" font-family="ui-sans-serif, system-ui, 'Segoe UI', Helvetica, Arial, sans-serif" font-size="11" fill="#1d2733">`,
    `<title>${heading}</title>`,
    `<rect width="${width}" height="${y + 24}" fill="#ffffff"/>`,
    `<text x="30" y="30" font-size="16" font-weight="600">${heading}</text>`,
    ...parts,
    '</svg>\n',
  ].join('\n');
}

/** One path a level: the cells whose largest distance falls into it. */
function layers(
  ulps: Float64Array,
  levels: readonly number[],
  rows: number,
  cols: number,
  gridRows: number,
  gridCols: number,
  cell: number,
): string[] {
  const paths = levels.map(() => '');
  let special = '';
  for (let r = 0; r < gridRows; r++)
    for (let c = 0; c < gridCols; c++) {
      let largest = 0;
      let infinite = false;
      const [rowEnd, colEnd] = [
        Math.ceil(((r + 1) * rows) / gridRows),
        Math.ceil(((c + 1) * cols) / gridCols),
      ];
      for (let i = Math.floor((r * rows) / gridRows); i < rowEnd; i++)
        for (let j = Math.floor((c * cols) / gridCols); j < colEnd; j++) {
          const ulp = ulps[i * cols + j]!;
          if (ulp < 0) infinite = true;
          largest = Math.max(largest, ulp);
        }
      const square = `M${c * cell} ${r * cell}h${cell}v${cell}h-${cell}z`;
      if (infinite) special += square;
      else if (largest > 0) paths[levels.findIndex((limit) => largest <= limit)] += square;
    }
  const drawn = paths.map((d, level) => (d === '' ? '' : `<path d="${d}" fill="${COLOURS[level]}"/>`));
  return [...drawn, special === '' ? '' : `<path d="${special}" fill="${NOT_FINITE}"/>`].filter(Boolean);
}

/** Upper limits of the levels, in units of the last place. */
const levelsOf = (largest: number): number[] =>
  COLOURS.map((_, i) =>
    i === COLOURS.length - 1 ? largest : Math.max(i + 1, Math.floor(largest ** ((i + 1) / COLOURS.length))),
  );

function legend(levels: readonly number[], y: number): string {
  const labels = ['equal', ...levels.map((limit) => `≤${engineering(limit)} ulp`), 'NaN or Inf'];
  let x = 30;
  return labels
    .map((label, i) => {
      const colour = i === 0 ? '#f3f5f7' : i === labels.length - 1 ? NOT_FINITE : COLOURS[i - 1];
      const item = `<rect x="${x}" y="${y}" width="11" height="11" rx="2" fill="${colour}" stroke="#d7dde3"/><text x="${x + 16}" y="${y + 9}" fill="#6b7885">${label}</text>`;
      x += 30 + label.length * 6;
      return item;
    })
    .join('\n');
}
