#!/usr/bin/env node
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { BitmmaError, defaultOp, type Engine, findFormat, findOp, InputError } from '@bitmma/core';
import { ENGINES } from 'bitmma';
import { closePools } from 'bitmma/schedule';
import { Command, CommanderError } from 'commander';
import { choose } from './choose.js';
import { conformanceMatrix, engineTotals, readMatrix, writeMatrix } from './conformance.js';
import {
  appendRecords,
  compareRecords,
  DEFAULT_RULE,
  historySteps,
  LEAST_RUNS,
  readRecords,
} from './history.js';
import { type BenchRecord, measure } from './measure.js';
import { renderReport } from './report.js';
import { workloadsOf } from './workloads.js';

const HISTORY = 'bench-history.jsonl';
const out = (text: string): void => void process.stdout.write(`${text}\n`);
const err = (text: string): void => void process.stderr.write(`${text}\n`);
const abort = new AbortController();
process.once('SIGINT', () => abort.abort());

function whole(name: string, text: string): number {
  if (!/^\d{1,12}$/.test(text)) throw new InputError(`${name}: expected a whole number, got ${text}`);
  return Number(text);
}

/** Engines by name; without names every one that this machine can run, the others said in one line each. */
async function openEngines(names: string | undefined): Promise<Engine[]> {
  const ids = names?.split(',') ?? ['native', 'wasm', 'webgpu', 'webgl', 'reference'];
  const engines: Engine[] = [];
  for (const id of ids) {
    try {
      engines.push(await ENGINES.open(id));
    } catch (error) {
      if (names !== undefined || !(error instanceof BitmmaError)) throw error;
      err(`left out: ${error.message}`);
    }
  }
  return engines;
}

const commitNow = (): string => {
  try {
    return execFileSync('git', ['rev-parse', 'HEAD'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return 'unknown';
  }
};

const program = new Command('bitmma-bench')
  .description('Speed, conformance and their history for every bitmma engine.')
  .exitOverride();

program
  .command('choose')
  .description('Predicted and measured time of every engine on one problem, and the pick.')
  .requiredOption('--m <rows>')
  .requiredOption('--n <columns>')
  .requiredOption('--k <depth>')
  .requiredOption('--device <device>')
  .option('--formats <a,b>', 'formats of A and B', 'e4m3,e4m3')
  .option('--instruction <name>', 'in place of the formats')
  .option('--engines <list>', 'only these')
  .option('--threads <count>')
  .option('--no-measure', 'predictions only')
  .option('--limit <seconds>', 'engines predicted to take longer are not measured', '20')
  .option('--json')
  .action(async (f) => {
    const [a, b = a] = String(f.formats)
      .split(',')
      .map((name) => findFormat(name));
    const op = f.instruction ? findOp(f.device, f.instruction) : defaultOp(f.device, { a: a!, b: b! });
    const report = await choose(
      op,
      { m: whole('--m', f.m), n: whole('--n', f.n), k: whole('--k', f.k) },
      {
        measure: f.measure,
        limit: whole('--limit', f.limit),
        ...(f.engines && { engines: String(f.engines).split(',') }),
        ...(f.threads && { threads: whole('--threads', f.threads) }),
      },
    );
    if (f.json) return out(JSON.stringify(report));
    const ms = (s: number | null) => (s === null ? '–' : `${(s * 1e3).toPrecision(3)} ms`);
    out(`${op.instruction} on ${op.device}, ${f.m} x ${f.n} x ${f.k}`);
    for (const r of report.rows)
      out(
        `  ${r.engine === report.pick ? '->' : '  '} ${r.engine.padEnd(10)} ${r.threads} thread(s)  predicted ${ms(r.predicted).padStart(10)}  measured ${ms(r.measured).padStart(10)}`,
      );
    for (const l of report.leftOut) out(`     ${l.engine.padEnd(10)} left out: ${l.reason}`);
    if (report.off !== null)
      out(`pick ${report.pick}, fastest ${report.fastest}: ${((report.off - 1) * 100).toFixed(1)} % off`);
  });

program
  .command('run')
  .description('Times engines on pinned workloads, interleaved, and appends the records to the history.')
  .argument('[suite]', 'quick, full or workload ids', 'quick')
  .option('--engines <list>', 'only these')
  .option('--kernel <kernel>', 'force a kernel on all of them')
  .option('--rounds <count>', 'samples an engine', '9')
  .option('--history <file>', 'append here', HISTORY)
  .option('--commit <id>', 'default: git HEAD')
  .option('--json')
  .action(async (suite: string, f) => {
    const engines = (await openEngines(f.engines)).map((engine) => ({
      engine,
      ...(f.kernel && { kernel: f.kernel }),
    }));
    const records: BenchRecord[] = [];
    for (const workload of workloadsOf(suite)) {
      if (abort.signal.aborted) break;
      const slow = workload.m * workload.n * workload.k > 2 ** 24;
      const chosen = slow && !f.engines ? engines.filter((e) => e.engine.id !== 'reference') : engines;
      const done = await measure(workload, {
        engines: chosen,
        rounds: whole('--rounds', f.rounds),
        commit: f.commit ?? commitNow(),
        onSkip: (engine, reason) => err(`${workload.id}: ${engine} left out: ${reason}`),
      });
      records.push(...done);
      await appendRecords(f.history, done);
      if (!f.json)
        for (const r of done)
          out(
            `${r.workload.padEnd(26)} ${`${r.engine}/${r.kernel}`.padEnd(22)} ${r.gmacs.toPrecision(3).padStart(8)} GMAC/s  ${(r.median * 1e3).toPrecision(4).padStart(8)} ms  sgemm ${r.ratioToSgemm?.toPrecision(3) ?? '–'}  reference ${r.ratioToReference?.toPrecision(3) ?? '–'}`,
          );
    }
    if (f.json) out(JSON.stringify(records));
  });

program
  .command('compare')
  .description('Compares two commits of the history; exit 1 where one kernel became slower.')
  .argument('<base>')
  .argument('<head>')
  .option('--history <file>', 'read here', HISTORY)
  .option('--factor <x>', 'a difference counts beyond this', String(DEFAULT_RULE.factor))
  .option('--json')
  .action(async (base: string, head: string, f) => {
    const factor = Number(f.factor);
    if (!(factor >= 1)) throw new InputError(`--factor: expected a number of at least 1, got ${f.factor}`);
    const rows = compareRecords(await readRecords(f.history), base, head, { ...DEFAULT_RULE, factor });
    if (rows.length === 0)
      throw new InputError(`${f.history}: expected records of both ${base} and ${head}, got none to compare`);
    if (f.json) out(JSON.stringify(rows));
    else
      for (const r of rows)
        out(
          `${r.verdict.padEnd(7)} ${r.workload.padEnd(26)} ${`${r.engine}/${r.kernel}`.padEnd(22)} x${r.factor.toFixed(3)}  p ${r.p.toExponential(1)}`,
        );
    if (rows.every((r) => r.verdict === 'unclear'))
      throw new InputError(
        `${f.history}: expected at least ${LEAST_RUNS} runs of each commit, in turn, got fewer of ${base} or ${head}`,
      );
    if (rows.some((r) => r.verdict === 'slower')) process.exitCode = 1;
  });

program
  .command('history')
  .description('Where the series of the history step.')
  .option('--history <file>', 'read here', HISTORY)
  .option('--json')
  .action(async (f) => {
    const records = await readRecords(f.history);
    const steps = historySteps(records);
    if (f.json) return out(JSON.stringify(steps));
    out(`${records.length} records, ${steps.length} steps`);
    for (const s of steps)
      out(
        `${s.series}: ${(s.before * 1e3).toPrecision(3)} -> ${(s.after * 1e3).toPrecision(3)} ms at ${s.commit.slice(0, 10)}`,
      );
  });

program
  .command('conformance')
  .description('Engines x ops against the reference, with the bound on the mismatch probability.')
  .option('--engines <list>', 'only these')
  .option('--seconds <budget>', 'time budget', '60')
  .option('--cases <count>', 'cases a campaign and op', '1000000')
  .option('--seed <seed>', 'of the generators', '1')
  .option('--state <file>', 'resume from it and write it', 'conformance-state.json')
  .option('--mismatches <file>', 'shrunk mismatches are appended here', 'mismatches.jsonl')
  .option('--json')
  .action(async (f) => {
    const engines = (await openEngines(f.engines)).filter((e) => e.id !== 'reference');
    const state = await conformanceMatrix({
      engines,
      seconds: whole('--seconds', f.seconds),
      cases: whole('--cases', f.cases),
      seed: whole('--seed', f.seed),
      mismatchFile: f.mismatches,
      signal: abort.signal,
      ...(existsSync(f.state) && { resume: await readMatrix(f.state) }),
    });
    await writeMatrix(f.state, state);
    const totals = engineTotals(state);
    if (f.json) out(JSON.stringify(state));
    else
      for (const t of totals)
        out(
          `${t.engine.padEnd(10)} ${t.arithmetics} arithmetics (${t.unsupported} not supported)  ${t.trials} words, ${t.mismatches} different, bound ${t.bound.toExponential(2)}`,
        );
    if (totals.some((t) => t.mismatches > 0)) process.exitCode = 1;
  });

program
  .command('report')
  .description('One HTML file: speeds, history, conformance.')
  .option('--history <file>', 'records', HISTORY)
  .option('--state <file>', 'conformance state', 'conformance-state.json')
  .option('--out <file>', 'the report', 'bitmma-report.html')
  .action(async (f) => {
    const records = existsSync(f.history) ? await readRecords(f.history) : [];
    const matrix = existsSync(f.state) ? await readMatrix(f.state) : null;
    if (records.length === 0 && !matrix)
      throw new InputError(`expected ${f.history} or ${f.state}, got neither`);
    await writeFile(f.out, renderReport(records, matrix));
    out(f.out);
  });

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2;
  else if (error instanceof BitmmaError || error instanceof RangeError) {
    err(`bitmma-bench: ${error.message}`);
    process.exitCode = 2;
  } else throw error;
} finally {
  await closePools();
}
