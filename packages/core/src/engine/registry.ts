import { UnknownNameError } from '../errors.js';
import type { Engine } from './engine.js';

/** One engine that a program may offer. */
export interface EngineEntry {
  readonly id: string;
  /** One line for listings. */
  readonly about: string;
  /** Builds the engine, or rejects with EngineUnavailableError. */
  create(): Promise<Engine>;
}

/** What an attempt to build each engine gave. */
export type Availability =
  | { readonly id: string; readonly about: string; readonly engine: Engine }
  | { readonly id: string; readonly about: string; readonly error: Error };

/**
 * An explicit list of engines. A name is opened or is an error: nothing ever stands in for it.
 */
export class EngineRegistry {
  private readonly opened = new Map<string, Promise<Engine>>();

  constructor(readonly entries: readonly EngineEntry[]) {
    const ids = entries.map((entry) => entry.id);
    const twice = ids.find((id, i) => ids.indexOf(id) !== i);
    if (twice !== undefined) throw new UnknownNameError(`engine ${twice} is registered twice`, ids);
  }

  get ids(): readonly string[] {
    return this.entries.map((entry) => entry.id);
  }

  /**
   * The engine of a name, built once.
   * @throws UnknownNameError naming the known ones; EngineUnavailableError where this machine cannot run it.
   */
  async open(id: string): Promise<Engine> {
    const entry = this.entries.find((candidate) => candidate.id === id);
    if (!entry)
      throw new UnknownNameError(`engine: expected one of ${this.ids.join(', ')}, got ${id}`, this.ids);
    let engine = this.opened.get(id);
    if (!engine) {
      engine = entry.create();
      this.opened.set(id, engine);
    }
    return engine;
  }

  /** Tries every engine; one that is not available keeps its error. */
  async probe(): Promise<readonly Availability[]> {
    return Promise.all(
      this.entries.map(async ({ id, about }) => {
        try {
          return { id, about, engine: await this.open(id) };
        } catch (error) {
          return { id, about, error: error as Error };
        }
      }),
    );
  }
}
