import * as Plot from '@observablehq/plot';
import { parseHTML } from 'linkedom';

/** What of the DOM a chart needs; this package is compiled without the browser's types. */
interface Drawn {
  readonly tagName: string;
  readonly outerHTML: string;
  setAttribute(name: string, value: string): void;
}

const { document } = parseHTML('<html><body></body></html>');
const FONT = 'system-ui, sans-serif';

/** One line of a legend. */
export interface Key {
  readonly label: string;
  readonly colour: string;
  readonly dash?: string;
}

/** Colours of devices, the same in every figure. */
export const DEVICE_COLOURS: Readonly<Record<string, string>> = {
  v100: '#9333ea',
  b200: '#16a34a',
  mi100: '#ea580c',
  mi210: '#0ea5e9',
  mi250: '#0ea5e9',
  mi300x: '#dc2626',
  fp64: '#94a3b8',
};

/** Other names, in turn. */
export const COLOURS: readonly string[] = ['#2563eb', '#16a34a', '#ea580c', '#9333ea', '#dc2626', '#0891b2'];

/** Room at the top for a legend. */
export const LEGEND_HEIGHT = 34;

/** An SVG file of a Plot with a legend over it; same bytes for the same data. */
export function chartSvg(options: Plot.PlotOptions, keys: readonly Key[]): string {
  const { height = 300, marginTop = 20 } = options;
  const figure = Plot.plot({
    ...options,
    height: height + LEGEND_HEIGHT,
    marginTop: marginTop + LEGEND_HEIGHT,
    document: document as never,
    style: { background: 'white', color: '#0f172a', fontFamily: FONT, fontSize: '12px' },
  }) as unknown as Drawn;
  figure.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  // Plot's style sheet lays the figure out in a page of its own; a file has no use for it.
  const text = figure.outerHTML.replace(/<style>.*?<\/style>/s, '');
  return `${text.slice(0, text.lastIndexOf('</svg>'))}${legend(keys)}</svg>\n`;
}

function legend(keys: readonly Key[]): string {
  let x = 14;
  const items = keys.map(({ label, colour, dash }) => {
    const at = x;
    // Seven pixels a letter leave room in any sans-serif face.
    x += 42 + 7 * label.length;
    const line = `<line x1="${at}" x2="${at + 22}" y1="14" y2="14" stroke="${colour}" stroke-width="2.5"${dash ? ` stroke-dasharray="${dash}"` : ''}/>`;
    return `${line}<text x="${at + 28}" y="18" text-anchor="start" font-family="${FONT}" font-size="12" fill="#0f172a">${label}</text>`;
  });
  return `<g>${items.join('')}</g>`;
}

/** A log axis of whole decades around the values, with at most eight ticks. */
export function logAxis(values: readonly number[]): { type: 'log'; domain: number[]; ticks: number[] } {
  const low = Math.floor(Math.log10(Math.min(...values)) + 1e-9);
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values)) - 1e-9));
  const step = Math.ceil((high - low) / 8);
  const ticks = Array.from({ length: Math.floor((high - low) / step) + 1 }, (_, i) => 10 ** (low + i * step));
  return { type: 'log', domain: [10 ** low, 10 ** high], ticks };
}

/** 10^n in superscript digits. */
export function power(value: number): string {
  if (value === 0) return '0';
  const digits = '⁰¹²³⁴⁵⁶⁷⁸⁹';
  const e = Math.round(Math.log10(Math.abs(value)));
  const text = [...String(Math.abs(e))].map((digit) => digits[Number(digit)]).join('');
  return `${value < 0 ? '−' : ''}10${e < 0 ? '⁻' : ''}${text}`;
}
