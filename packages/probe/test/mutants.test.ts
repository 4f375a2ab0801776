import { sameWord } from '@bitmma/core/conformance';
import { referenceEngine } from '@bitmma/core/reference';
import { describe, expect, it } from 'vitest';
import { mutantsOf, opWith, signatureOf } from '../src/index.js';
import { Book, runCases } from '../src/infer/book.js';
import { tellApart } from '../src/infer/search.js';
import { firstQuestions } from '../src/vectors/pool.js';
import { FAMILIES, judge } from './engines.js';

const LIMIT = 10_000;

describe('ten single-feature mutants of every family are told from it within 10,000 queries', () => {
  it.each(FAMILIES.map((op) => [op.datapath.kind, op] as const))('%s', async (_, op) => {
    const signature = signatureOf(op);
    const engine = await judge();
    const parts = firstQuestions(signature);
    const session = await engine.open(op);
    const own = await Promise.all(parts.map((part) => runCases(session, { ...part.set, op })));
    const mutants = mutantsOf(signature, op.datapath, 10);
    const different = mutants.filter(({ equal }) => equal === null);
    expect(different).toHaveLength(10);
    for (const { axis, from, to, datapath } of different) {
      const mutant = opWith(signature, datapath);
      const box = await engine.open(mutant);
      let queries = 0;
      let told = false;
      for (const [i, part] of parts.entries()) {
        if (told) break;
        const got = await runCases(box, { ...part.set, op: mutant });
        let at = 0;
        while (at < part.set.count && sameWord(op.d, got, at, own[i], at)) at++;
        told = at < part.set.count;
        queries += Math.min(at + 1, part.set.count);
      }
      if (!told) {
        // A search computes both and asks only where they differ.
        const book = new Book(signature, box, engine);
        told = (await tellApart(book, op.datapath, datapath, LIMIT)) !== null;
        queries++;
        await book.close();
      }
      await box.close();
      expect(told, `${axis} ${from} -> ${to}`).toBe(true);
      expect(queries).toBeLessThanOrEqual(LIMIT);
    }
    await session.close();
  });

  it('excludes equivalent ones with a proof that no search contradicts', async () => {
    const engine = await judge();
    let proofs = 0;
    for (const op of FAMILIES) {
      const signature = signatureOf(op);
      const book = new Book(signature, await referenceEngine().open(op), engine);
      for (const { equal, datapath } of mutantsOf(signature, op.datapath, 10).filter(
        (m) => m.equal !== null,
      )) {
        expect(equal!.length).toBeGreaterThan(0);
        expect(await tellApart(book, op.datapath, datapath, 512)).toBeNull();
        proofs++;
      }
      await book.close();
    }
    expect(proofs).toBeGreaterThan(0);
  });
});
