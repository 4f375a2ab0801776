import * as Plot from '@observablehq/plot';
import { COLOURS, chartSvg, DEVICE_COLOURS, type Key, logAxis, power } from '../chart.js';
import { eigenvalueDifferences, type SmdPoint } from './study.js';

interface Curve {
  readonly name: string;
  readonly format: string;
  readonly omega: number;
  readonly value: number;
}

const FP64 = { device: 'fp64', format: 'fp64' } as const;

/** The figures of a study, by name: eigenvalue, condition, difference to fp64, differences of pairs of devices. */
export function smdFigures(points: readonly SmdPoint[]): Readonly<Record<string, string>> {
  const formats = [...new Set(points.map(({ format }) => format))].filter((format) => format !== 'fp64');
  const devices = [...new Set(points.map(({ device }) => device))].filter((device) => device !== 'fp64');
  const runs = formats.flatMap((format) => devices.map((device) => ({ format, device })));
  const deviceKeys: Key[] = devices.map((label) => ({ label, colour: DEVICE_COLOURS[label] ?? '#475569' }));
  const quantity = (name: 'eigenvalue' | 'condition'): Curve[] =>
    formats.flatMap((format) =>
      points
        .filter((point) => point.format === format || point.format === 'fp64')
        .map((point) => ({ name: point.device, format, omega: point.omega, value: point[name] })),
    );
  const withReference: Key[] = [{ label: 'fp64', colour: DEVICE_COLOURS.fp64! }, ...deviceKeys];
  const pairs = devices.flatMap((left, i) => devices.slice(i + 1).map((right) => [left, right] as const));
  return {
    eigenvalue: figure(quantity('eigenvalue'), withReference, 'linear', 'dominant eigenvalue'),
    condition: figure(quantity('condition'), withReference, 'log', 'condition number'),
    difference: figure(
      runs.flatMap((run) =>
        eigenvalueDifferences(points, run, FP64).map(({ omega, difference }) => ({
          name: run.device,
          format: run.format,
          omega,
          value: difference,
        })),
      ),
      deviceKeys,
      'log',
      '|difference to fp64|',
    ),
    pairs: figure(
      formats.flatMap((format) =>
        pairs.flatMap(([left, right]) =>
          eigenvalueDifferences(points, { device: left, format }, { device: right, format }).map(
            ({ omega, difference }) => ({ name: `${left} : ${right}`, format, omega, value: difference }),
          ),
        ),
      ),
      pairs.map(([left, right], i) => ({
        label: `${left} : ${right}`,
        colour: COLOURS[i % COLOURS.length]!,
      })),
      'log',
      '|difference of a pair|',
    ),
  };
}

/** Curves over frequency, one panel a format. Zeros have no place on a log scale and are left out. */
function figure(
  curves: readonly Curve[],
  keys: readonly Key[],
  scale: 'linear' | 'log',
  label: string,
): string {
  const colours = new Map(keys.map((key) => [key.label, key.colour]));
  const rows = scale === 'log' ? curves.filter(({ value }) => value > 0) : curves;
  const own = rows.map(({ value }) => value);
  return chartSvg(
    {
      width: 960,
      height: 330,
      marginLeft: 64,
      marginBottom: 44,
      x: { label: 'normalised frequency Ω / π', ticks: 5 },
      y:
        scale === 'log'
          ? { ...logAxis(own), label, labelAnchor: 'center', grid: true, tickFormat: power }
          : { label, labelAnchor: 'center', grid: true, zero: true },
      fx: { label: null, domain: [...new Set(rows.map(({ format }) => format))] },
      marks: [
        Plot.frame({ stroke: '#cbd5e1' }),
        Plot.line(rows, {
          x: 'omega',
          y: 'value',
          z: 'name',
          fx: 'format',
          stroke: ({ name }: Curve) => colours.get(name) ?? '#475569',
          strokeWidth: ({ name }: Curve) => (name === 'fp64' ? 5 : 1.4),
        }),
      ],
    },
    keys,
  );
}
