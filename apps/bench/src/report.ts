import { catalog, catalogHash, opHash } from '@bitmma/core';
import { engineLegend, historyChart, matrixChart, newest, speedChart } from './charts.js';
import { engineTotals, type MatrixState } from './conformance.js';
import { historySteps } from './history.js';
import type { BenchRecord } from './measure.js';

const escapeHtml = (text: string): string =>
  text.replace(/[&<>"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c]!);

const STYLE = `
:root{color-scheme:light dark;--bg:#f8fafc;--card:#fff;--ink:#0f172a;--dim:#64748b;--line:#e2e8f0;--ok:#16a34a;--bad:#dc2626}
@media(prefers-color-scheme:dark){:root{--bg:#0b1120;--card:#111a2e;--ink:#e2e8f0;--dim:#94a3b8;--line:#24304a;--ok:#4ade80;--bad:#f87171}}
*{box-sizing:border-box}body{margin:0;background:var(--bg);color:var(--ink);font:15px/1.5 system-ui,sans-serif}
main{max-width:1040px;margin:0 auto;padding:40px 20px 80px}h1{font-size:30px;margin:0 0 4px}h2{font-size:20px;margin:44px 0 10px}
p{color:var(--dim);margin:4px 0 14px}.card{background:var(--card);border:1px solid var(--line);border-radius:12px;padding:18px;overflow-x:auto}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(180px,1fr));gap:14px;margin:24px 0}.tile{background:var(--card);border:1px solid var(--line);border-radius:12px;padding:14px 18px}
.tile b{display:block;font-size:26px;font-variant-numeric:tabular-nums}.tile span{color:var(--dim);font-size:13px}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}th,td{text-align:right;padding:6px 10px;border-bottom:1px solid var(--line)}th{color:var(--dim);font-weight:500;font-size:13px}
th:first-child,td:first-child,th:nth-child(2),td:nth-child(2){text-align:left}.ok{color:var(--ok)}.bad{color:var(--bad)}.grid{display:grid;grid-template-columns:repeat(auto-fit,minmax(460px,1fr));gap:14px}
.key{display:inline-flex;align-items:center;gap:6px;margin-right:16px;color:var(--dim);font-size:13px}.key i{width:11px;height:11px;border-radius:50%;display:inline-block}
figure{margin:0}figure h2{font-size:14px;margin:0 0 6px}svg{max-width:100%;height:auto;display:block}code{font-size:13px}
`;

/** The whole report as one HTML file: speeds, history, conformance; SVG drawn here, no script, no outside file. */
export function renderReport(records: readonly BenchRecord[], matrix: MatrixState | null): string {
  const last = newest(records);
  const machine = last.at(-1)?.machine;
  const engines = [...new Set([...last.map((r) => r.engine), ...(matrix?.cells.map((c) => c.engine) ?? [])])];
  const fastest = last.reduce<BenchRecord | null>((x, y) => (x === null || y.gmacs > x.gmacs ? y : x), null);
  const totals = matrix ? engineTotals(matrix) : [];
  const trials = totals.reduce((sum, t) => sum + t.trials, 0);
  const mismatches = totals.reduce((sum, t) => sum + t.mismatches, 0);
  const tiles = [
    [catalog().length.toLocaleString('en'), 'instructions in the catalog'],
    [
      fastest ? `${fastest.gmacs.toPrecision(3)}` : '–',
      `GMAC/s at best${fastest ? ` (${fastest.engine}, ${fastest.workload})` : ''}`,
    ],
    [trials.toLocaleString('en'), 'words compared with the reference'],
    [mismatches.toLocaleString('en'), 'of them different'],
  ];
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><title>bitmma: speed and conformance</title><style>${STYLE}</style></head><body><main>
<h1>bitmma</h1><p>What a GPU's matrix unit computes, bit for bit: how fast, and how surely. Catalog <code>${catalogHash().slice(0, 12)}</code>${machine ? `, ${escapeHtml(machine.processor)}, ${machine.cores} cores, Node ${machine.node}` : ''}.</p>
<div class="tiles">${tiles.map(([value, label]) => `<div class="tile"><b>${escapeHtml(value!)}</b><span>${escapeHtml(label!)}</span></div>`).join('')}</div>
<p>${engineLegend(engines)}</p>
<h2>Speed</h2><p>The newest run of every workload. Medians; engines interleaved round by round in one process, one thread.</p>
<div class="card">${last.length > 0 ? speedChart(records) : 'No records.'}</div>
${speedTable(last)}
<h2>Conformance</h2><p>Generated cases against the reference, by family of datapath. The bound is the mismatch probability that is excluded with certainty 1 − 10⁻⁶.</p>
${matrix ? `<div class="card">${matrixChart(matrix, familyByHash())}</div>${totalsTable(totals)}` : '<div class="card">No conformance state.</div>'}
<h2>History</h2><p>GMAC/s per run, oldest first, with the 95 % interval of each median.</p>
${historySection(records)}
</main></body></html>
`;
}

function familyByHash(): (hash: string) => string {
  const families = new Map(catalog().map((op) => [opHash(op), op.datapath.kind]));
  return (hash) => families.get(hash) ?? 'custom';
}

function speedTable(last: readonly BenchRecord[]): string {
  const rows = last.map(
    (r) =>
      `<tr><td>${escapeHtml(r.workload)}</td><td>${escapeHtml(r.engine)} (${escapeHtml(r.kernel)})</td><td>${r.gmacs.toPrecision(3)}</td><td>${(r.median * 1e3).toPrecision(3)}</td><td>${(r.interval[0] * 1e3).toPrecision(3)} – ${(r.interval[1] * 1e3).toPrecision(3)}</td><td>${r.ratioToSgemm?.toPrecision(3) ?? '–'}</td><td>${r.ratioToReference?.toPrecision(3) ?? '–'}</td></tr>`,
  );
  return `<div class="card" style="margin-top:14px"><table><thead><tr><th>workload</th><th>engine</th><th>GMAC/s</th><th>median ms</th><th>95 % interval</th><th>of sgemm</th><th>× reference</th></tr></thead><tbody>${rows.join('')}</tbody></table></div>`;
}

function totalsTable(totals: ReturnType<typeof engineTotals>): string {
  const rows = totals.map(
    (t) =>
      `<tr><td>${escapeHtml(t.engine)}</td><td>${t.arithmetics} arithmetics, ${t.unsupported} not supported</td><td>${t.trials.toLocaleString('en')}</td><td class="${t.mismatches === 0 ? 'ok' : 'bad'}">${t.mismatches}</td><td>${t.bound.toExponential(2)}</td></tr>`,
  );
  return `<div class="card" style="margin-top:14px"><table><thead><tr><th>engine</th><th>scope</th><th>words</th><th>different</th><th>bound</th></tr></thead><tbody>${rows.join('')}</tbody></table></div>`;
}

function historySection(records: readonly BenchRecord[]): string {
  const counts = new Map<string, number>();
  for (const r of records) counts.set(r.workload, (counts.get(r.workload) ?? 0) + 1);
  const charts = [...counts]
    .filter(([, count]) => count > 1)
    .map(([workload]) => `<div class="card">${historyChart(records, workload)}</div>`);
  const steps = historySteps(records);
  const list = steps.map(
    (s) =>
      `<tr><td>${escapeHtml(s.series)}</td><td><code>${escapeHtml(s.commit.slice(0, 10))}</code></td><td>${(s.before * 1e3).toPrecision(3)} ms</td><td>${(s.after * 1e3).toPrecision(3)} ms</td><td>${(s.after / s.before).toPrecision(3)}</td></tr>`,
  );
  const table =
    steps.length > 0
      ? `<div class="card" style="margin-top:14px"><table><thead><tr><th>step in</th><th>at commit</th><th>before</th><th>after</th><th>factor</th></tr></thead><tbody>${list.join('')}</tbody></table></div>`
      : '';
  return charts.length > 0
    ? `<div class="grid">${charts.join('')}</div>${table}`
    : '<div class="card">One run so far.</div>';
}
