// choose on the ten pinned problems: predictions against measured times, one line each. A pick is right where its
// measured time is at most 1.15 x the fastest engine's. Exit 1 below nine right, below three problems that native does
// not win, or where one engine named for all of them would pass. node scripts/choose-problems.mjs [--json]
import { closePools } from 'bitmma/schedule';
import { choose } from '../dist/choose.js';
import { bestConstant, countRight, ENOUGH, isRight, PINNED } from '../dist/pinned.js';

const json = process.argv.includes('--json');
const ms = (seconds) => (seconds === null ? '-' : (seconds * 1e3).toPrecision(3));
const reports = [];
for (const { name, op, m, n, k, engines } of PINNED) {
  const report = await choose(op, { m, n, k }, { measure: true, limit: 5, ...(engines && { engines }) });
  reports.push(report);
  if (json) continue;
  const rows = report.rows.map((r) => `${r.engine}/${r.threads} ${ms(r.predicted)}|${ms(r.measured)}`);
  const verdict = isRight(report.pick, report.rows) ? 'right' : 'WRONG';
  console.log(
    `${verdict}  ${name.padEnd(26)} pick ${report.pick}, fastest ${report.fastest}   predicted|measured ms: ${rows.join('  ')}`,
  );
}
await closePools();
const right = countRight(reports);
const constant = bestConstant(reports.map((r) => r.rows));
const others = reports.filter((r) => r.fastest !== 'native').length;
if (json)
  console.log(JSON.stringify(reports.map(({ pick, rows }, i) => ({ name: PINNED[i].name, pick, rows }))));
else
  console.log(
    `${right} of ${PINNED.length} right (bar ${ENOUGH}); native is not the fastest in ${others} (bar 3); one engine for all would be right in ${constant}`,
  );
process.exitCode = right >= ENOUGH && others >= 3 && constant < ENOUGH ? 0 : 1;
