import type { Engine, MmaOp } from '@bitmma/core';
import { catalogHash, opHash } from '@bitmma/core';
import { campaignsFor, generateCases, runSuite } from '@bitmma/core/conformance';
import { referenceEngine } from '@bitmma/core/reference';
import { engineBuild } from 'bitmma/schedule';

const verdicts = new Map<string, string | null>();
const CASES = 200;

/**
 * Why an engine must not be timed on an op, or null: a short run of every campaign against the reference, remembered
 * per catalog hash, op, build and kernel. The reference is the judge and conforms by definition of this gate.
 */
export async function conforms(engine: Engine, op: MmaOp, kernel?: string): Promise<string | null> {
  if (engine.id === 'reference') return null;
  const key = [catalogHash(), opHash(op), engine.id, engineBuild(engine.id), kernel ?? ''].join(' ');
  const known = verdicts.get(key);
  if (known !== undefined) return known;
  const sets = campaignsFor(op).map((campaign) => generateCases(op, campaign, { seed: 1, count: CASES }));
  const result = await runSuite(sets, {
    engine,
    against: referenceEngine(),
    ...(kernel !== undefined && { kernel }),
  });
  const verdict =
    result.failed === 0
      ? null
      : `does not conform: ${result.failed} of ${result.failed + result.passed} words differ from the reference`;
  verdicts.set(key, verdict);
  return verdict;
}
