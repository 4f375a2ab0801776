import type { Identification } from '../infer/identify.js';
import type { AxisReport } from '../infer/survey.js';
import { type Feature, readFeatures } from '../probes/readings.js';
import { opWith } from '../signature.js';
import type { Value } from '../space/axes.js';
import { cellsOf, ROWS } from './cells.js';

const show = (value: Value): string => (value === null ? 'none' : String(value));

/** Values in order, runs of integers as ranges. */
export function showValues(values: readonly Value[]): string {
  const numbers = values.filter((v): v is number => typeof v === 'number').sort((x, y) => x - y);
  const runs: string[] = [];
  for (let i = 0; i < numbers.length; ) {
    let j = i;
    while (j + 1 < numbers.length && numbers[j + 1] === numbers[j] + 1) j++;
    runs.push(j - i > 1 ? `${numbers[i]} to ${numbers[j]}` : numbers.slice(i, j + 1).join(', '));
    i = j + 1;
  }
  return [...values.filter((v) => typeof v !== 'number').map(show), ...runs].join(', ');
}

function axisLines(axis: AxisReport, found: Identification): string[] {
  const lines = [`  ${axis.axis} = ${show(axis.value)}`];
  if (axis.equal.length > 0) {
    lines.push(`    same words with ${showValues(axis.equal)}`);
    for (const reason of axis.proof) lines.push(`      ${reason}`);
  }
  if (axis.open.length > 0) lines.push(`    not told from ${showValues(axis.open)}`);
  const own = typeof axis.value === 'number' ? axis.value : null;
  const nearest = [...axis.refuted]
    .sort((x, y) => {
      const distance = (v: Value) => (own !== null && typeof v === 'number' ? Math.abs(v - own) : 1000);
      return distance(x.value) - distance(y.value);
    })
    .slice(0, 2);
  for (const { value, entry } of nearest) {
    const vector = found.book.vector(entry);
    lines.push(
      `    not ${show(value)}: ${found.book.note(entry)}: ${found.book.answer(entry)} (${vector.id})`,
    );
  }
  return lines;
}

const featureLine = ({ feature, reading, evidence }: Feature): string => {
  const shown = evidence.map(({ note, answer }) => `${note}: ${answer}`).join('; ');
  return `  ${feature.padEnd(38)} ${reading}${shown === '' ? '' : `  (${shown})`}`;
};

/** What a probe found, for people. */
export function probeText(found: Identification): string {
  const { datapath, inside, survey, campaign, counterexample, queries, refinements } = found;
  const lines = ['Features'];
  lines.push(...readFeatures(found.book).map(featureLine), '');
  if (!inside) {
    lines.push('Not in the model space: no member of the union tried gives every answer.');
    lines.push(`Nearest: ${JSON.stringify(datapath)}`);
    if (counterexample) {
      const { vector, got } = counterexample;
      lines.push('Smallest counterexample');
      lines.push(`  a ${vector.a}`, `  b ${vector.b}`, `  c ${vector.c}`);
      lines.push(`  the box answers ${got}, the nearest model ${vector.d}`);
    }
  } else {
    lines.push(`Datapath: ${datapath.kind}`);
    for (const axis of survey.axes) lines.push(...axisLines(axis, found));
    if (survey.openKinds.length > 0)
      lines.push(`  not told from ${survey.openKinds.map((d) => JSON.stringify(d)).join(' or ')}`);
    for (const { datapath: other, entry } of survey.refutedKinds)
      lines.push(`  not ${other.kind}: ${found.book.note(entry)}: ${found.book.answer(entry)}`);
    const cells = cellsOf(opWith(found.signature, datapath));
    lines.push('', ...ROWS.map((row) => `  ${row.padEnd(14)} ${cells[row]}`), '');
    lines.push(
      `Campaign: ${campaign.mismatches} mismatches in ${campaign.cases} random cases; a case drawn so differs with ` +
        `probability below ${campaign.bound.toExponential(2)}, with certainty 1 - ${campaign.epsilon}`,
    );
  }
  for (const step of refinements) lines.push(`Refined: ${step}`);
  lines.push(`${queries} questions asked`);
  return `${lines.join('\n')}\n`;
}

/** The same as data. */
export function probeJson(found: Identification): string {
  const { book, survey, ...rest } = found;
  const evidence = (entry: number) => ({ ...book.vector(entry), d: book.answer(entry) });
  return `${JSON.stringify(
    {
      ...rest,
      features: readFeatures(book).map(({ evidence: shown, ...feature }) => ({
        ...feature,
        evidence: shown.map(({ entry }) => evidence(entry)),
      })),
      axes: survey.axes.map(({ refuted, ...axis }) => ({
        ...axis,
        refuted: refuted.map(({ value, entry }) => ({ value, evidence: evidence(entry) })),
      })),
      openKinds: survey.openKinds,
      refutedKinds: survey.refutedKinds.map(({ datapath, entry }) => ({
        datapath,
        evidence: evidence(entry),
      })),
    },
    null,
    2,
  )}\n`;
}
