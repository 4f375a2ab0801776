import * as Plot from '@observablehq/plot';
import { chartSvg, DEVICE_COLOURS, logAxis, power } from '../chart.js';
import type { MultiwordPoint } from './multiword.js';

const words = (count: number): string => (count === 1 ? '1 word' : `${count} words`);

/** Error over n, one panel a number of words, one line a device. */
export function multiwordFigure(points: readonly MultiwordPoint[]): string {
  const devices = [...new Set(points.map(({ device }) => device))];
  const rows = points
    .filter(({ error }) => error > 0)
    .map((point) => ({ ...point, panel: words(point.words) }));
  return chartSvg(
    {
      width: 960,
      height: 330,
      marginLeft: 64,
      marginBottom: 44,
      x: { ...logAxis(rows.map(({ n }) => n)), label: 'inner dimension n', tickFormat: power },
      y: {
        ...logAxis(rows.map(({ error }) => error)),
        label: 'relative norm-wise error',
        labelAnchor: 'center',
        grid: true,
        tickFormat: power,
      },
      fx: { label: null, domain: [...new Set(rows.map(({ panel }) => panel))] },
      marks: [
        Plot.frame({ stroke: '#cbd5e1' }),
        Plot.line(rows, {
          x: 'n',
          y: 'error',
          z: 'device',
          fx: 'panel',
          stroke: ({ device }: MultiwordPoint) => DEVICE_COLOURS[device] ?? '#475569',
        }),
        Plot.dot(rows, {
          x: 'n',
          y: 'error',
          fx: 'panel',
          r: 2.2,
          fill: ({ device }: MultiwordPoint) => DEVICE_COLOURS[device] ?? '#475569',
        }),
      ],
    },
    devices.map((device) => ({ label: device, colour: DEVICE_COLOURS[device] ?? '#475569' })),
  );
}
