import * as Plot from '@observablehq/plot';
import { COLOURS, chartSvg, type Key, logAxis, power } from '../chart.js';
import type { AccumulationPoint } from './accumulation.js';

/** Of the accumulations that start anew every 128. */
const DASH = '6 3';

/** Error over K, and the two biases over K, one panel a data set. */
export function accumulationFigures(
  points: readonly AccumulationPoint[],
): Readonly<Record<'error' | 'bias', string>> {
  const names = [...new Set(points.map(({ contender }) => contender))];
  const keys: Key[] = names.map((label, i) => ({
    label,
    colour: COLOURS[(i >> 1) + (i >= 4 ? i & 1 : 0)]!,
    ...(i < 4 && i % 2 === 1 && { dash: DASH }),
  }));
  const panels = [...new Set(points.map(({ data }) => data))];
  const lines = (rows: readonly (AccumulationPoint & { value: number; kind?: string })[], fy?: 'kind') =>
    keys.flatMap(({ label, colour, dash }) => {
      const own = rows.filter(({ contender }) => contender === label);
      const place = { x: 'k', y: 'value', fx: 'data', ...(fy !== undefined && { fy }) };
      return [
        Plot.line(own, { ...place, stroke: colour, ...(dash !== undefined && { strokeDasharray: dash }) }),
        Plot.dot(own, { ...place, fill: colour, r: 2.2 }),
      ];
    });
  const depths = points.map(({ k }) => k);
  const x = {
    type: 'log' as const,
    base: 2,
    label: 'K',
    ticks: [32, 128, 512, 2048, 8192].filter((k) => k <= Math.max(...depths)),
    tickFormat: 'd',
  };
  const errors = points.filter(({ error }) => error > 0).map((point) => ({ ...point, value: point.error }));
  const biases = points.flatMap((point) => [
    { ...point, kind: 'signed', value: point.bias },
    { ...point, kind: 'of magnitudes', value: point.shrinkage },
  ]);
  const ticks = [-1, -1e-2, -1e-4, -1e-6, 0, 1e-6, 1e-4, 1e-2];
  return {
    error: chartSvg(
      {
        width: 960,
        height: 330,
        marginLeft: 64,
        marginBottom: 44,
        x,
        y: {
          ...logAxis(errors.map(({ value }) => value)),
          label: 'error: ‖d − r‖ / ‖r‖',
          labelAnchor: 'center',
          grid: true,
          tickFormat: power,
        },
        fx: { label: null, domain: panels },
        marks: [Plot.frame({ stroke: '#cbd5e1' }), ...lines(errors)],
      },
      keys,
    ),
    bias: chartSvg(
      {
        width: 960,
        height: 560,
        marginLeft: 64,
        marginRight: 100,
        marginBottom: 44,
        x,
        y: {
          type: 'symlog',
          constant: 1e-8,
          domain: [ticks[0]!, ticks.at(-1)!],
          label: 'bias, linear within ±10⁻⁸',
          labelAnchor: 'center',
          grid: true,
          ticks,
          tickFormat: power,
        },
        fx: { label: null, domain: panels },
        fy: { label: null, domain: ['signed', 'of magnitudes'] },
        marks: [
          Plot.frame({ stroke: '#cbd5e1' }),
          Plot.ruleY([0], { stroke: '#64748b' }),
          ...lines(biases, 'kind'),
        ],
      },
      keys,
    ),
  };
}
