import { type Dtype, NPY_DTYPES } from './dtype.js';
import { checkedCount, FileError } from './source.js';

/** What a .npy header says. */
export interface NpyHeader {
  readonly dtype: Dtype;
  readonly bigEndian: boolean;
  readonly order: 'C' | 'F';
  readonly shape: readonly number[];
}

type Literal = string | boolean | number | Literal[];

/**
 * Reads the Python literal of a .npy header: a dictionary with the keys descr, fortran_order and shape, nothing
 * else (NumPy's format specification, "NEP 1"). Never evaluates anything.
 */
export function parseNpyHeader(name: string, text: string): NpyHeader {
  const fields = parseDictionary(name, text);
  const fortran = fields.get('fortran_order');
  const shape = fields.get('shape');
  const descr = fields.get('descr');
  if (typeof fortran !== 'boolean' || !Array.isArray(shape) || descr === undefined || fields.size !== 3)
    throw new FileError(name, `expected a header with descr, fortran_order and shape, got ${text.trim()}`);
  const { dtype, bigEndian } = parseDescr(name, descr);
  const extents = shape.map((extent) => {
    if (typeof extent !== 'number')
      throw new FileError(name, `expected a shape of whole numbers, got ${text.trim()}`);
    return extent;
  });
  checkedCount(name, extents, dtype.bits);
  return { dtype, bigEndian, order: fortran ? 'F' : 'C', shape: extents };
}

function parseDescr(name: string, descr: Literal): { dtype: Dtype; bigEndian: boolean } {
  if (Array.isArray(descr))
    throw new FileError(name, 'is a structured array (named fields), expected one number an element');
  const text = String(descr);
  const match = /^([<>|=]?)([a-zA-Z]\d*)$/.exec(text);
  const code = match?.[2] ?? text;
  if (code.startsWith('O'))
    throw new FileError(
      name,
      'holds pickled Python objects, which are never read; save a plain numeric array',
    );
  const dtype = Object.hasOwn(NPY_DTYPES, code) ? NPY_DTYPES[code] : undefined;
  if (dtype === undefined)
    throw new FileError(
      name,
      `expected an element type of ${Object.keys(NPY_DTYPES).join(' ')}, got ${text}`,
    );
  return { dtype: { ...dtype, name: text }, bigEndian: match?.[1] === '>' };
}

const TOKEN = /\s*(?:(['"])((?:(?!\1)[^\\])*)\1|(\d+)|(True|False)|([{}()[\],:]))/y;

function parseDictionary(name: string, text: string): Map<string, Literal> {
  const fields = new Map<string, Literal>();
  let at = 0;
  const fail = (): never => {
    throw new FileError(name, `its header is damaged near byte ${at}: ${text.slice(0, 120).trim()}`);
  };
  const next = (): { kind: 'value' | 'mark'; value: Literal } => {
    TOKEN.lastIndex = at;
    const match = TOKEN.exec(text);
    if (match === null) return fail();
    at = TOKEN.lastIndex;
    if (match[2] !== undefined) return { kind: 'value', value: match[2] };
    if (match[3] !== undefined) return { kind: 'value', value: Number(match[3]) };
    if (match[4] !== undefined) return { kind: 'value', value: match[4] === 'True' };
    return { kind: 'mark', value: match[5]! };
  };
  const expectMark = (mark: string): void => {
    const token = next();
    if (token.kind !== 'mark' || token.value !== mark) fail();
  };
  const literal = (token = next(), depth = 0): Literal => {
    if (token.kind === 'value') return token.value;
    if ((token.value !== '(' && token.value !== '[') || depth > 4) return fail();
    const closing = token.value === '(' ? ')' : ']';
    const items: Literal[] = [];
    for (let item = next(); ; item = next()) {
      if (item.kind === 'mark' && item.value === closing) return items;
      items.push(literal(item, depth + 1));
      const separator = next();
      if (separator.kind !== 'mark') return fail();
      if (separator.value === closing) return items;
      if (separator.value !== ',') return fail();
    }
  };
  expectMark('{');
  for (let token = next(); !(token.kind === 'mark' && token.value === '}'); token = next()) {
    if (token.kind !== 'value' || typeof token.value !== 'string') fail();
    expectMark(':');
    fields.set(String(token.value), literal());
    const separator = next();
    if (separator.kind === 'mark' && separator.value === '}') break;
    if (separator.kind !== 'mark' || separator.value !== ',') fail();
  }
  return fields;
}
