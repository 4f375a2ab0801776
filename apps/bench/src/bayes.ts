import betaQuantile from '@stdlib/stats-base-dists-beta-quantile';

/**
 * Upper bound on the mismatch probability at certainty 1 - epsilon after n trials with m mismatches, uniform prior:
 * the 1 - epsilon quantile of Beta(m + 1, n - m + 1). For m = 0 it is 1 - epsilon^(1 / (n + 1)) in closed form
 * (Accurate Models of AMD Matrix Cores, section 5.4).
 */
export function mismatchBound(trials: number, mismatches: number, epsilon = 1e-6): number {
  if (!Number.isInteger(trials) || !Number.isInteger(mismatches) || mismatches < 0 || mismatches > trials)
    throw new RangeError(`expected 0 <= mismatches <= trials, whole, got ${mismatches} of ${trials}`);
  if (mismatches === 0) return -Math.expm1(Math.log(epsilon) / (trials + 1));
  return betaQuantile(1 - epsilon, mismatches + 1, trials - mismatches + 1);
}
