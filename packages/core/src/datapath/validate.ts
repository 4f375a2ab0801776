import type { z } from 'zod';
import { DatapathError, InputError } from '../errors.js';
import { checkDatapath, checkOp, refuser } from './constraints.js';
import type { Datapath } from './datapath.js';
import { deepFreeze } from './freeze.js';
import type { Evidence, MmaOp } from './op.js';
import { datapathSchema, type OpJson, opSchema } from './schema.js';

type Issue = z.core.$ZodIssue;

const at = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>((inner, key) => (inner as Record<PropertyKey, unknown> | undefined)?.[key], value);

const show = (value: unknown) => (value === undefined ? 'nothing' : JSON.stringify(value));

/** What an issue says was expected. */
function expectation(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.expected === 'int'
        ? 'an integer'
        : `${/^[aio]/.test(issue.expected) ? 'an' : 'a'} ${issue.expected}`;
    case 'too_small':
      return issue.origin === 'string' ? 'a text that is not empty' : `at least ${issue.minimum}`;
    case 'too_big':
      return `at most ${issue.maximum}`;
    case 'invalid_value':
      return `one of ${issue.values.map(String).join(', ')}`;
    case 'invalid_union':
      return `one of ${(('options' in issue && issue.options) || []).map(String).join(', ')}`;
    case 'invalid_format':
      return '4 to 16 hex digits';
    default:
      return issue.message;
  }
}

function shapeError(issue: Issue, value: unknown, where: string, prefix: readonly string[]): DatapathError {
  const path = [...prefix, ...issue.path].map(String);
  if (issue.code === 'unrecognized_keys') {
    const field = [...path, issue.keys[0]].join('.');
    return new DatapathError(`${where}: ${field}: expected no such field, got one`, field);
  }
  const field = path.join('.');
  const got = show(at(value, issue.path));
  return new DatapathError(
    `${where}: ${field === '' ? '' : `${field}: `}expected ${expectation(issue)}, got ${got}`,
    field,
  );
}

/** Parses text; anything else is taken as parsed JSON. */
function parsed(json: unknown, where: string): unknown {
  if (typeof json !== 'string') return json;
  try {
    return JSON.parse(json);
  } catch (error) {
    throw new InputError(`${where}: expected JSON, got text that is none (${(error as Error).message})`);
  }
}

function shaped<T>(schema: z.ZodType<T>, json: unknown, where: string, prefix: readonly string[]): T {
  const value = parsed(json, where);
  const result = schema.safeParse(value);
  if (!result.success) throw shapeError(result.error.issues[0], value, where, prefix);
  return result.data;
}

/** NaN words in lower case: one text for one word, so that equal arithmetic has equal hashes. */
const lowerNan = (datapath: Datapath): Datapath =>
  datapath.kind === 'integer'
    ? datapath
    : { ...datapath, output: { ...datapath.output, nan: datapath.output.nan.toLowerCase() } };

/**
 * A datapath from JSON (text or parsed), deep-frozen. `where` begins every message. DatapathError names the field
 * that is missing, unknown, out of range or contradictory; InputError: not JSON.
 */
export function parseDatapath(json: unknown, where: string): Datapath {
  const datapath = lowerNan(shaped(datapathSchema, json, where, ['datapath']));
  checkDatapath(datapath, refuser(where));
  return deepFreeze(datapath);
}

function evidenceOf({ evidence }: OpJson): Evidence {
  if (evidence === undefined) return { level: 'derived', source: 'custom datapath' };
  const { level, source, note } = evidence;
  return note === undefined ? { level, source } : { level, source, note };
}

/**
 * An op from JSON (text or parsed), deep-frozen: the form of the catalog's entries, with `schemas/op.schema.json`
 * as its schema. Only a, b, k and datapath are required. Errors as parseDatapath.
 */
export function parseOp(json: unknown, where: string): MmaOp {
  const value = shaped(opSchema, json, where, []);
  const datapath = lowerNan(value.datapath);
  const d = value.d ?? (datapath.kind === 'integer' ? 's32' : datapath.output.format);
  const op: MmaOp = {
    device: value.device ?? 'custom',
    instruction: value.instruction ?? 'custom',
    shape: value.shape ?? { m: 1, n: 1, k: value.k, blocks: 1 },
    a: value.a,
    b: value.b,
    c: value.c ?? d,
    d,
    k: value.k,
    datapath,
    scaling: value.scaling ?? null,
    sparsity: value.sparsity ?? null,
    evidence: evidenceOf(value),
  };
  checkOp(op, refuser(where));
  return deepFreeze(op);
}
