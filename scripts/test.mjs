// npm test: install, build, lint, every package's tests, every crate's tests; last line `N passed, N failed`.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { bootstrap, childEnv, root, run } from './bootstrap.mjs';

const total = { passed: 0, failed: 0, skipped: 0 };
/** What failed, told again before the last line: a log cut from the top still names it. */
const failures = [];
const count = (passed, failed, skipped) => {
  total.passed += passed;
  total.failed += failed;
  total.skipped += skipped;
};

/** A step that is one test: lint, formatting, a missing tool. */
function step(name, status) {
  process.stdout.write(`${status === 0 ? 'ok' : 'FAILED'}  ${name}\n`);
  if (status !== 0) failures.push(name);
  count(status === 0 ? 1 : 0, status === 0 ? 0 : 1, 0);
}

function vitest(name, cwd, report) {
  const args = [
    'run',
    '--silent',
    'test',
    '--',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${report}`,
  ];
  const done = spawnSync('npm', args, { cwd, env: childEnv(), stdio: 'inherit' });
  if (!existsSync(report)) return step(`${name}: vitest wrote no report`, 1);
  const { numPassedTests, numFailedTests, numPendingTests, numTodoTests, testResults } = JSON.parse(
    readFileSync(report, 'utf8'),
  );
  for (const { name: file, assertionResults } of testResults)
    for (const { fullName, status, failureMessages } of assertionResults)
      if (status === 'failed')
        failures.push(`${relative(root, file)}: ${fullName}\n${failureMessages.join('\n')}`);
  count(numPassedTests, numFailedTests, numPendingTests + numTodoTests);
  // A suite that dies outside any test fails vitest without a failed test.
  if (done.status !== 0 && numFailedTests === 0) step(`${name}: a test file failed to run`, 1);
}

/** Names of tests that failed, and of those that passed having printed a line that begins with SKIPPED. */
function outcomes(output) {
  const [failed, skipped] = [new Set(), new Set()];
  let part = '';
  let test = '';
  for (const line of output.split('\n')) {
    if (line === 'successes:' || line === 'failures:') part = line;
    const [, named] = /^---- (.+) stdout ----$/.exec(line) ?? [];
    if (named !== undefined) {
      test = named;
      if (part === 'failures:') failed.add(test);
    } else if (part === 'successes:' && line.startsWith('SKIPPED')) skipped.add(test);
  }
  return { failed, skipped };
}

function cargo(name, cwd) {
  const args = ['test', '--workspace', '--release', '--quiet', '--', '--show-output'];
  const done = spawnSync('cargo', args, {
    cwd,
    env: childEnv(),
    stdio: ['inherit', 'pipe', 'inherit'],
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  process.stdout.write(done.stdout);
  const { failed, skipped } = outcomes(done.stdout);
  for (const test of failed) failures.push(`${name}: ${test}`);
  count(-skipped.size, 0, skipped.size);
  const results = [...done.stdout.matchAll(/test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored/g)];
  for (const [, passed, failed, ignored] of results) count(Number(passed), Number(failed), Number(ignored));
  if (done.status !== 0 && !results.some(([, , failed]) => failed !== '0')) step(`${name}: cargo test`, 1);
}

bootstrap();
step('lint and format', run('npx', ['biome', 'check', '.']));
step('engines import no arithmetic of another', run('node', ['scripts/lint-imports.mjs']));

const reports = mkdtempSync(join(tmpdir(), 'bitmma-test-'));
const hasCargo = spawnSync('cargo', ['--version']).status === 0;
for (const folder of ['packages', 'apps'])
  for (const name of existsSync(join(root, folder)) ? readdirSync(join(root, folder)).sort() : []) {
    const cwd = join(root, folder, name);
    if (!existsSync(join(cwd, 'package.json'))) continue;
    process.stdout.write(`\n== ${folder}/${name}\n`);
    if (existsSync(join(cwd, 'Cargo.toml'))) {
      if (hasCargo) cargo(name, cwd);
      else {
        process.stdout.write(`skipped  ${name}: cargo is not installed; its Rust tests did not run\n`);
        count(0, 0, 1);
      }
    }
    if (existsSync(join(cwd, 'test'))) vitest(name, cwd, join(reports, `${folder}-${name}.json`));
  }
rmSync(reports, { recursive: true });

for (const failure of failures) process.stdout.write(`\nFAILED  ${failure}\n`);
process.stdout.write(`\n${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped\n`);
process.exitCode = total.failed === 0 && total.passed > 0 ? 0 : 1;
