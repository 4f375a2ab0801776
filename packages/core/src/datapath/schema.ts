/** The shape of an op as JSON: fields, types and ranges. What contradicts across fields is in constraints.ts. */
import { z } from 'zod';
import { FORMAT_NAMES } from '../formats/table.js';

/** Ranges that every engine may rely on. */
export const LIMITS = {
  /** K of one instruction, terms of a block, group or scale block. */
  terms: 1024,
  /** Fraction bits below a window's exponent. */
  fraction: 200,
  /** Magnitude of a floor or another exponent; fp64 products lie within 2^±2148. */
  exponent: 2200,
} as const;

const terms = z.int().min(1).max(LIMITS.terms);
const fraction = z.int().min(1).max(LIMITS.fraction);
const exponent = z.int().min(-LIMITS.exponent).max(LIMITS.exponent);
const rounding = z.enum(['RZ', 'RNE', 'RD', 'RU']);
const cut = z.enum(['RZ', 'RD', 'RNE']);
const format = z.enum(FORMAT_NAMES);

const output = z.strictObject({
  format: z.enum(['fp16', 'fp32', 'fp64']),
  rounding,
  precision: z.int().min(1).max(52),
  underflow: z.enum(['positive', 'signed']),
  nan: z.string().regex(/^[0-9a-fA-F]{4,16}$/),
});

const window = { block: terms, fraction, floor: exponent.nullable(), alignment: cut };

const addend = {
  zeroAddendExponent: exponent,
  productOverflow: exponent.nullable(),
  addendFraction: fraction,
  addendRounding: cut,
  addendReach: z.int().min(0).max(LIMITS.exponent).nullable(),
  sumFraction: fraction,
  sumRounding: cut,
  normalFraction: fraction.nullable(),
  normalRounding: cut,
};

export const datapathSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('fused-window'),
    ...window,
    zeroAddendExponent: exponent.nullable(),
    productOverflow: exponent.nullable(),
    output,
  }),
  z.strictObject({ kind: z.literal('late-window'), ...window, output, addition: rounding }),
  z.strictObject({
    kind: z.literal('split-window'),
    ...window,
    selectBit: z.int().min(0).max(9),
    output,
    addition: rounding,
  }),
  z.strictObject({ kind: z.literal('exact'), block: terms, output }),
  z.strictObject({
    kind: z.literal('pairwise'),
    block: terms,
    flushInputs: z.boolean(),
    flushResults: z.boolean(),
    output,
  }),
  z.strictObject({ kind: z.literal('cdna3-window'), ...window, ...addend, output }),
  z.strictObject({
    kind: z.literal('cdna3-odd-even'),
    ...window,
    ...addend,
    mergeFraction: fraction,
    mergeRounding: cut,
    output,
  }),
  z.strictObject({
    kind: z.literal('sequential-fma'),
    flushInputs: z.boolean(),
    flushResults: z.boolean(),
    output,
  }),
  z.strictObject({ kind: z.literal('integer'), overflow: z.enum(['wrap', 'saturate']) }),
  z.strictObject({ kind: z.literal('scaled-window'), fraction, output }),
  z.strictObject({
    kind: z.literal('scaled-groups'),
    group: terms,
    dominantGroup: terms,
    dominantFraction: fraction,
    productFraction: fraction,
    scaleFraction: fraction,
    groupAddendFraction: fraction.nullable(),
    leaveOut: exponent.nullable(),
    output,
  }),
]);

const tile = z.int().min(1).max(1024);

export const opSchema = z.strictObject({
  device: z.string().min(1).optional().describe("Catalog device id; absent: 'custom'"),
  instruction: z.string().min(1).optional().describe("Instruction identifier; absent: 'custom'"),
  shape: z
    .strictObject({ m: tile, n: tile, k: terms, blocks: z.int().min(1).max(64) })
    .optional()
    .describe('Absent: one element, k terms'),
  a: format,
  b: format,
  c: format.optional().describe("Absent: d's format"),
  d: format.optional().describe("Absent: the datapath's output format, s32 for integers"),
  k: terms.describe('Terms of one instruction; logical positions where sparse'),
  datapath: datapathSchema,
  scaling: z
    .strictObject({ format: z.enum(['ue8m0', 'ue4m3']), block: terms })
    .nullable()
    .optional(),
  sparsity: z.enum(['1:2', '2:4', '4:8-pairs']).nullable().optional(),
  evidence: z
    .strictObject({
      level: z.enum(['recorded', 'published', 'derived']),
      source: z.string().min(1),
      note: z.string().min(1).optional(),
    })
    .optional(),
});

export type OpJson = z.infer<typeof opSchema>;

/** JSON Schema of an op, as packages/core/schemas/op.schema.json holds it. */
export const opJsonSchema = (): object => ({
  title: 'bitmma op: the arithmetic of one matrix instruction',
  ...z.toJSONSchema(opSchema, { io: 'input' }),
});
