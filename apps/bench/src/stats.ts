import studentCdf from '@stdlib/stats-base-dists-t-cdf';

const sorted = (samples: readonly number[]): number[] => [...samples].sort((x, y) => x - y);

/** The middle sample, or the mean of the two. */
export function median(samples: readonly number[]): number {
  const s = sorted(samples);
  const half = s.length >> 1;
  return s.length % 2 === 1 ? s[half]! : (s[half - 1]! + s[half]!) / 2;
}

/** The sample that a quarter of the others are at most. */
export const lowerQuartile = (samples: readonly number[]): number => sorted(samples)[samples.length >> 2]!;

/**
 * A confidence interval of the median from order statistics: samples j and n + 1 - j with the largest j whose
 * binomial(n, 1/2) coverage is at least `level`; the whole range where there are too few samples.
 */
export function medianInterval(samples: readonly number[], level = 0.95): readonly [number, number] {
  const s = sorted(samples);
  const n = s.length;
  let tail = 0;
  let term = 2 ** -n;
  let j = 0;
  // P(fewer than j + 1 of n below the median), doubled, must stay within 1 - level.
  while (j < n / 2 && 2 * (tail + term) <= 1 - level) {
    tail += term;
    term = (term * (n - j)) / (j + 1);
    j++;
  }
  const low = Math.max(0, j - 1);
  return [s[low]!, s[n - 1 - low]!];
}

/**
 * Two-sided p of Welch's t test on the logarithms of positive values: whether their typical ratio is 1. 1 where a side
 * has fewer than two values; 0 or 1 where none scatters.
 */
export function welch(x: readonly number[], y: readonly number[]): number {
  if (x.length < 2 || y.length < 2) return 1;
  const [a, b] = [moments(x.map(Math.log)), moments(y.map(Math.log))];
  const variance = a.error + b.error;
  if (variance === 0) return a.mean === b.mean ? 1 : 0;
  const freedom = variance ** 2 / (a.error ** 2 / (x.length - 1) + b.error ** 2 / (y.length - 1));
  return 2 * studentCdf(-Math.abs(a.mean - b.mean) / Math.sqrt(variance), freedom);
}

/** Mean and the squared standard error of it. */
function moments(values: readonly number[]): { readonly mean: number; readonly error: number } {
  const n = values.length;
  const mean = values.reduce((sum, value) => sum + value, 0) / n;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return { mean, error: squares / (n - 1) / n };
}

/**
 * Indices at which a series of medians steps: dynamic programming over piecewise-constant fits with absolute
 * deviations and a penalty a step, gamma = 4 ln(n) times the typical noise (the median absolute difference of
 * neighbours / sqrt 2). Segments have at least `least` points.
 */
export function findSteps(series: readonly number[], least = 3): number[] {
  const n = series.length;
  if (n < 2 * least) return [];
  const differences = series.slice(1).map((value, i) => Math.abs(value - series[i]!));
  const noise = Math.max(median(differences) / Math.SQRT2, 1e-12 * Math.abs(median(series)));
  const gamma = 4 * Math.log(n) * noise;
  const cost = (i: number, j: number): number => {
    const part = series.slice(i, j);
    const middle = median(part);
    return part.reduce((sum, value) => sum + Math.abs(value - middle), 0);
  };
  const best = new Array<number>(n + 1).fill(Number.POSITIVE_INFINITY);
  const from = new Array<number>(n + 1).fill(0);
  best[0] = -gamma;
  for (let j = least; j <= n; j++)
    for (let i = 0; i <= j - least; i++) {
      const total = best[i]! + gamma + cost(i, j);
      if (total < best[j]!) {
        best[j] = total;
        from[j] = i;
      }
    }
  const steps: number[] = [];
  for (let j = n; from[j]! > 0; j = from[j]!) steps.unshift(from[j]!);
  return steps;
}
