import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { writeAtomically } from '../files/write.js';

/** A finished point: what names it, and what was computed. */
export type Row = Readonly<Record<string, string | number>>;

/**
 * Finished points of a study in a CSV file: each is appended as soon as it is done, and a later run finds it by its
 * key. A torn last line, of a run that was killed, is left out. Cells hold no comma.
 */
export class PointFile {
  readonly #rows = new Map<string, Row>();
  #open = false;

  /** `path` null keeps the points in memory alone. Values are numbers, keys any text. */
  constructor(
    private readonly path: string | null,
    private readonly key: readonly string[],
    private readonly values: readonly string[],
  ) {
    if (path === null || !existsSync(path)) return;
    const [header, ...lines] = readFileSync(path, 'utf8').split('\n');
    if (header !== this.#header) return;
    // What follows the last newline is empty, or torn.
    for (const line of lines.slice(0, -1)) {
      const cells = line.split(',');
      if (cells.length !== key.length + values.length) continue;
      const row: Record<string, string | number> = {};
      for (const [i, name] of key.entries()) row[name] = cells[i]!;
      for (const [i, name] of values.entries()) row[name] = Number(cells[key.length + i]);
      this.#rows.set(this.#keyOf(row), row);
    }
  }

  get #header(): string {
    return [...this.key, ...this.values].join(',');
  }

  #keyOf(row: Row): string {
    return this.key.map((name) => String(row[name])).join(',');
  }

  #line(row: Row): string {
    return `${[...this.key, ...this.values].map((name) => String(row[name])).join(',')}\n`;
  }

  get(key: Row): Row | undefined {
    return this.#rows.get(this.#keyOf(key));
  }

  add(row: Row): void {
    this.#rows.set(this.#keyOf(row), row);
    if (this.path === null) return;
    if (this.#open) appendFileSync(this.path, this.#line(row));
    else
      writeFileSync(
        this.path,
        `${this.#header}\n${[...this.#rows.values()].map((each) => this.#line(each)).join('')}`,
      );
    this.#open = true;
  }

  /** Leaves exactly these rows in the file, in this order. */
  async finish(rows: readonly Row[]): Promise<void> {
    if (this.path === null) return;
    await writeAtomically(this.path, [`${this.#header}\n`, ...rows.map((row) => this.#line(row))]);
    this.#open = false;
  }
}
