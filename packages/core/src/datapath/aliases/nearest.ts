import { distance } from 'fastest-levenshtein';
import { UnknownNameError } from '../../errors.js';

/** The `count` known names closest to `name` by edit distance, case aside; ties in the order given. */
export function nearest(name: string, known: Iterable<string>, count = 4): string[] {
  const target = name.toLowerCase();
  return [...new Set(known)]
    .map((candidate) => ({ candidate, d: distance(target, candidate.toLowerCase()) }))
    .sort((x, y) => x.d - y.d)
    .slice(0, count)
    .map(({ candidate }) => candidate);
}

/** `what` says which kind of name was expected, e.g. "device". */
export function unknownName(
  what: string,
  name: string,
  known: Iterable<string>,
  hint = '',
): UnknownNameError {
  const close = nearest(name, known);
  return new UnknownNameError(`unknown ${what} '${name}'${hint}; nearest: ${close.join(', ')}`, close);
}
