import type { MmaOp } from '@bitmma/core';
import { type Box, stagesOf } from './stages.js';

const FILL: Record<Box['role'], string> = {
  multiply: '#dbe9f6',
  align: '#fde9c8',
  add: '#d9efd9',
  round: '#f3d9e3',
  fused: '#e6def2',
};

const CHAR = 7;
const LINE = 17;
const PAD = 10;
const GAP_X = 18;
const GAP_Y = 34;
const MARGIN = 24;
const C_LANE = 96;

const escapeXml = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
const n = (x: number) => String(Math.round(x * 10) / 10);

interface Placed {
  readonly box: Box;
  readonly lines: readonly string[];
  readonly width: number;
  readonly height: number;
}

const place = (box: Box): Placed => {
  const lines = box.lines.filter((line) => line !== '');
  return {
    box,
    lines,
    width: Math.max(72, ...lines.map((line) => line.length * CHAR + 2 * PAD)),
    height: lines.length * LINE + PAD,
  };
};

const text = (x: number, y: number, value: string, anchor = 'middle', weight = 'normal') =>
  `<text x="${n(x)}" y="${n(y)}" text-anchor="${anchor}" font-weight="${weight}">${escapeXml(value)}</text>`;

const arrow = (x1: number, y1: number, x2: number, y2: number) =>
  `<path d="M${n(x1)} ${n(y1)} L${n(x2)} ${n(y2)}" fill="none" stroke="#444" marker-end="url(#tip)"/>`;

/** The block diagram of an op's block step as SVG, in the manner of figures 1 to 3 of the CDNA study. */
export function blockDiagram(op: MmaOp): string {
  const rows = stagesOf(op).map((row) => ({ ...row, placed: row.boxes.map(place) }));
  const widths = rows.map(
    ({ placed }) => placed.reduce((sum, p) => sum + p.width, 0) + GAP_X * (placed.length - 1),
  );
  const title = `${op.device}  ${op.instruction}`;
  const inner = Math.max(...widths, title.length * CHAR - C_LANE);
  const width = inner + C_LANE + 2 * MARGIN;
  const middle = MARGIN + C_LANE + inner / 2;
  const parts: string[] = [text(width / 2, MARGIN + 4, title, 'middle', 'bold')];
  let y = MARGIN + 30;
  let before: { x: number; bottom: number }[] = [];
  for (const [i, row] of rows.entries()) {
    let x = middle - widths[i] / 2;
    const tallest = Math.max(...row.placed.map((p) => p.height));
    const centres = row.placed.map((p) => {
      const centre = x + p.width / 2;
      x += p.width + GAP_X;
      return centre;
    });
    row.placed.forEach((p, j) => {
      const left = centres[j] - p.width / 2;
      parts.push(
        `<rect x="${n(left)}" y="${n(y)}" width="${n(p.width)}" height="${n(tallest)}" rx="5" fill="${FILL[p.box.role]}" stroke="#444"/>`,
      );
      const top = y + (tallest - p.lines.length * LINE) / 2 + LINE - 4;
      p.lines.forEach((line, l) => {
        parts.push(text(centres[j], top + l * LINE, line));
      });
    });
    const into = (from: number, target: number) => {
      const half = row.placed[target].width / 2 - 12;
      return Math.min(Math.max(from, centres[target] - half), centres[target] + half);
    };
    const count = row.placed.length;
    before.forEach((from, j) => {
      // As many boxes: straight down; fewer: each to its share; more: one to all.
      const targets =
        before.length === 1 && count > 1
          ? centres.map((_, t) => t)
          : [Math.floor((j * count) / before.length)];
      for (const target of targets) parts.push(arrow(from.x, from.bottom, into(from.x, target), y));
    });
    if (row.chained)
      for (let j = 0; j + 1 < count; j++) {
        const edge = centres[j] + row.placed[j].width / 2;
        parts.push(arrow(edge, y + tallest / 2, edge + GAP_X, y + tallest / 2));
      }
    if (row.c) {
      const cy = y + tallest / 2;
      parts.push(
        `<rect x="${MARGIN}" y="${n(cy - 15)}" width="52" height="30" rx="5" fill="#fff" stroke="#444"/>`,
      );
      parts.push(text(MARGIN + 26, cy + 4, `c ${op.c}`));
      parts.push(arrow(MARGIN + 52, cy, centres[0] - row.placed[0].width / 2, cy));
    }
    before = centres.map((centre) => ({ x: centre, bottom: y + tallest }));
    if (row.chained) before = before.slice(-1);
    y += tallest + GAP_Y;
  }
  const out = before.length === 1 ? before[0].x : middle;
  parts.push(arrow(out, y - GAP_Y, out, y - 6), text(out, y + 10, `d ${op.d}, c of the next block`));
  const height = y + MARGIN + 4;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${n(width)}" height="${n(height)}" viewBox="0 0 ${n(width)} ${n(height)}" font-family="DejaVu Sans Mono, monospace" font-size="11.5"><title>${escapeXml(title)}</title><defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="#444"/></marker></defs><rect width="100%" height="100%" fill="#fff"/>${parts.join('')}</svg>\n`;
}
