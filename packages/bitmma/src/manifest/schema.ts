import { z } from 'zod';

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const count = z.int().nonnegative();
const word = z.string().regex(/^0x[0-9a-f]{8}$/);

const input = <const Roles extends readonly [string, ...string[]]>(roles: Roles) =>
  z.strictObject({
    role: z.enum(roles),
    /** File argument, its path relative to the manifest. */
    source: z.string(),
    dtype: z.string(),
    shape: z.array(count),
    sha256,
  });

const result = z.strictObject({
  /** Where the words were written, relative to the manifest; null: nowhere. */
  file: z.string().nullable(),
  format: z.string(),
  shape: z.array(count),
  sha256,
  /** Result rows (batch included) of one hash. */
  rowsPerHash: z.int().positive(),
  /** First 32 hex digits of each group's SHA-256. */
  rowHashes: z.array(z.string().regex(/^[0-9a-f]{32}$/)),
});

const shared = {
  /** The op itself, so that a later catalog cannot change what the run claims. */
  op: z.record(z.string(), z.unknown()),
  opHash: sha256,
  engine: z.string(),
  result,
};

const gemmRun = z.strictObject({
  kind: z.literal('gemm'),
  ...shared,
  inputs: z.array(input(['a', 'b', 'c', 'scaleA', 'scaleB', 'sparseMeta'])),
  options: z.strictObject({
    transA: z.boolean(),
    transB: z.boolean(),
    aFormat: z.string().optional(),
    bFormat: z.string().optional(),
    outFormat: z.string().optional(),
    rounding: z.enum(['RNE', 'RZ']).optional(),
    saturate: z.boolean().optional(),
  }),
  kernel: z.string(),
});

const scaledMmRun = z.strictObject({
  kind: z.literal('scaled-mm'),
  ...shared,
  inputs: z.array(input(['a', 'b'])),
  options: z.strictObject({
    profile: z.string(),
    transB: z.boolean(),
    aFormat: z.string(),
    bFormat: z.string(),
    fastAccum: z.boolean(),
    /** What `auto` resolved to: no table is needed to run it again. */
    splitK: z.union([
      z.literal(1),
      z.tuple([z.int().positive(), z.enum(['serial', 'pairwise', 'contiguous'])]),
    ]),
    /** fp32 words. */
    scaleA: word,
    scaleB: word,
    scaleResult: word.optional(),
  }),
});

export const manifestSchema = z.strictObject({
  bitmmaManifest: z.literal(1),
  version: z.string(),
  node: z.string(),
  catalogHash: sha256,
  runs: z.array(z.discriminatedUnion('kind', [gemmRun, scaledMmRun])).min(1),
});

export type GemmRun = z.infer<typeof gemmRun>;
export type ScaledMmRun = z.infer<typeof scaledMmRun>;
export type Manifest = z.infer<typeof manifestSchema>;
export type ManifestRun = Manifest['runs'][number];
