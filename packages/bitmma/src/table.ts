/** Plain columns, as wide as their widest cell. */
export function textTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [header, ...rows];
  const widths = header.map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  return all
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    )
    .concat('')
    .join('\n');
}

/** A Markdown table. */
export function markdownTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(header), line(header.map(() => '---')), ...rows.map(line), ''].join('\n');
}

/** 1234567 as `1.23 M`. */
export function engineering(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  const units = ['', ' k', ' M', ' G', ' T', ' P'];
  let at = 0;
  let scaled = value;
  while (scaled >= 1000 && at < units.length - 1) {
    scaled /= 1000;
    at++;
  }
  return `${at === 0 ? String(Math.round(scaled)) : scaled.toPrecision(3)}${units[at]}`;
}

/** Three significant digits of a double. */
export const brief = (value: number): string =>
  value === 0 ? '0' : value.toPrecision(3).replace('e-', 'e−').replace(/^-/, '−');
