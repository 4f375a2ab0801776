import { InputError } from '@bitmma/core';
import quantile from '@stdlib/stats-base-dists-beta-quantile';

/**
 * Upper bound on the probability that a case drawn like these `cases` is answered differently from the model, held
 * with certainty 1 - epsilon: the (1 - epsilon) quantile of Beta(m + 1, n - m + 1), the posterior of a uniform prior
 * after m mismatches in n cases (CDNA study, section 5.4). m = 0 has the closed form 1 - epsilon^(1 / (n + 1)).
 * @throws InputError for counts or an epsilon outside their ranges
 */
export function mismatchBound(cases: number, mismatches: number, epsilon: number): number {
  if (!(Number.isInteger(cases) && cases >= 0))
    throw new InputError(`cases: expected a whole number of at least 0, got ${cases}`);
  if (!(Number.isInteger(mismatches) && mismatches >= 0 && mismatches <= cases))
    throw new InputError(`mismatches: expected a whole number of 0 to ${cases}, got ${mismatches}`);
  if (!(epsilon > 0 && epsilon < 1))
    throw new InputError(`epsilon: expected a number between 0 and 1, got ${epsilon}`);
  if (mismatches === 0) return -Math.expm1(Math.log(epsilon) / (cases + 1));
  return quantile(1 - epsilon, mismatches + 1, cases - mismatches + 1);
}
