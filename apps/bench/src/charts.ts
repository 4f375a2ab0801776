import * as Plot from '@observablehq/plot';
import { parseHTML } from 'linkedom';
import type { MatrixState } from './conformance.js';
import { engineTotals } from './conformance.js';
import type { BenchRecord } from './measure.js';

const { document } = parseHTML('<html><body></body></html>');

const ENGINES = ['native', 'wasm', 'webgpu', 'webgl', 'reference', 'cuda', 'hip'];
const COLOURS = ['#2563eb', '#0d9488', '#7c3aed', '#db2777', '#64748b', '#16a34a', '#ea580c'];
const colour = { domain: ENGINES, range: COLOURS } as const;
const style = { background: 'transparent', fontFamily: 'inherit', fontSize: '12px' };

/** An SVG of a Plot, drawn without a browser; xmlns is set so that it stands in a file of its own too. */
function svg(options: Plot.PlotOptions): string {
  const figure = Plot.plot({ ...options, document: document as unknown as Document, style });
  for (const element of [figure, ...figure.querySelectorAll('svg')])
    if (element.tagName.toLowerCase() === 'svg') element.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  return figure.outerHTML;
}

/** A number without SI prefix. */
const plain = (value: number): string => `${Number(value.toPrecision(2))}`;

/** Powers of ten around the values. */
function powers(values: readonly number[]): number[] {
  const low = Math.floor(Math.log10(Math.min(...values)));
  const high = Math.ceil(Math.log10(Math.max(...values)));
  return Array.from({ length: high - low + 1 }, (_, i) => 10 ** (low + i));
}

/** The newest record of every workload, engine and kernel. */
export function newest(records: readonly BenchRecord[]): BenchRecord[] {
  const last = new Map<string, BenchRecord>();
  for (const r of records) last.set(`${r.workload} ${r.engine} ${r.kernel}`, r);
  return [...last.values()];
}

/** GMAC/s of every engine, one row a workload, log scale. */
export function speedChart(records: readonly BenchRecord[]): string {
  const rows = newest(records).map((r) => ({ ...r, gmacs: Math.max(r.gmacs, 1e-4) }));
  return svg({
    width: 960,
    height: 60 + 26 * new Set(rows.map((r) => r.workload)).size,
    marginLeft: 190,
    marginBottom: 44,
    x: {
      type: 'log',
      label: 'GMAC/s, one thread, packing included (log scale)',
      labelOffset: 38,
      grid: true,
      ticks: powers(rows.map((r) => r.gmacs)),
      tickFormat: plain,
    },
    y: { label: null, domain: [...new Set(rows.map((r) => r.workload))] },
    color: { ...colour, legend: false },
    marks: [
      Plot.ruleY(rows, { y: 'workload', stroke: '#cbd5e1', strokeOpacity: 0.5 }),
      Plot.dot(rows, {
        x: 'gmacs',
        y: 'workload',
        fill: 'engine',
        r: 5,
        title: (r: BenchRecord) => `${r.engine} (${r.kernel}): ${r.gmacs.toPrecision(3)} GMAC/s`,
      }),
    ],
  });
}

/** The medians of one workload over the file, oldest first, each with its interval. */
export function historyChart(records: readonly BenchRecord[], workload: string): string {
  const rows = records
    .filter((r) => r.workload === workload)
    .map((r, index) => ({
      index,
      engine: r.engine,
      commit: r.commit.slice(0, 8),
      value: r.gmacs,
      low: r.macs / r.interval[1] / 1e9,
      high: r.macs / r.interval[0] / 1e9,
    }));
  return svg({
    width: 470,
    height: 190,
    marginLeft: 60,
    x: { label: 'run', ticks: Math.min(rows.length, 8), tickFormat: 'd' },
    y: { label: 'GMAC/s', grid: true, type: 'log', ticks: 4, tickFormat: plain },
    color: { ...colour },
    title: workload,
    marks: [
      Plot.ruleX(rows, {
        x: 'index',
        y1: 'low',
        y2: 'high',
        stroke: 'engine',
        strokeOpacity: 0.4,
        strokeWidth: 3,
      }),
      Plot.line(rows, { x: 'index', y: 'value', stroke: 'engine', z: 'engine' }),
      Plot.dot(rows, {
        x: 'index',
        y: 'value',
        fill: 'engine',
        r: 2.5,
        title: (r: { commit: string }) => r.commit,
      }),
    ],
  });
}

/** Engines x datapath families: trials where no word differs, mismatches where some do. */
export function matrixChart(state: MatrixState, familyOf: (opHash: string) => string): string {
  const groups = new Map<
    string,
    { engine: string; family: string; trials: number; mismatches: number; runs: boolean }
  >();
  for (const cell of state.cells) {
    const family = familyOf(cell.opHash);
    const key = `${cell.engine} ${family}`;
    const g = groups.get(key) ?? { engine: cell.engine, family, trials: 0, mismatches: 0, runs: false };
    g.trials += cell.trials;
    g.mismatches += cell.mismatches;
    g.runs ||= cell.reason === null;
    groups.set(key, g);
  }
  const cells = [...groups.values()].map((g) => ({
    ...g,
    state: !g.runs ? 'not supported' : g.mismatches > 0 ? 'mismatch' : 'every word equal',
    label: !g.runs ? '–' : g.mismatches > 0 ? `${g.mismatches} differ` : compact(g.trials),
  }));
  return svg({
    width: 960,
    height: 70 + 44 * engineTotals(state).length,
    marginLeft: 90,
    marginTop: 60,
    x: { label: null, tickRotate: -20, axis: 'top' },
    y: { label: null },
    color: {
      domain: ['every word equal', 'mismatch', 'not supported'],
      range: ['#86efac', '#fca5a5', '#e2e8f0'],
    },
    marks: [
      Plot.cell(cells, { x: 'family', y: 'engine', fill: 'state', inset: 2, rx: 4 }),
      Plot.text(cells, { x: 'family', y: 'engine', text: 'label', fill: '#0f172a' }),
    ],
  });
}

const compact = (count: number): string =>
  count >= 1e6
    ? `${(count / 1e6).toPrecision(3)} M`
    : count >= 1e3
      ? `${(count / 1e3).toPrecision(3)} k`
      : `${count}`;

/** A legend of the engines that occur. */
export function engineLegend(engines: readonly string[]): string {
  return ENGINES.filter((e) => engines.includes(e))
    .map((e) => `<span class="key"><i style="background:${COLOURS[ENGINES.indexOf(e)]}"></i>${e}</span>`)
    .join('');
}
