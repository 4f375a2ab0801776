import koffi from 'koffi';

/** Single-precision matrix product of the system's OpenBLAS, one thread, core type named. */
export interface Sgemm {
  /** OpenBLAS's own word for the kernels it chose: SkylakeX, Haswell, ... */
  readonly core: string;
  /** C = A * B over row-major float arrays. */
  run(m: number, n: number, k: number, a: Float32Array, b: Float32Array, c: Float32Array): void;
}

const NAMES = ['libopenblas.so.0', 'libopenblas.so', 'libopenblas.dylib'];

let loaded: Sgemm | { readonly reason: string } | undefined;

/**
 * Loads OpenBLAS with OPENBLAS_CORETYPE (already set, or SkylakeX where the processor has AVX-512, else Haswell):
 * unnamed, an old OpenBLAS runs its slowest kernels on a processor that it does not know. Once a process.
 */
export function loadSgemm(hasAvx512: boolean): Sgemm | { readonly reason: string } {
  loaded ??= load(hasAvx512);
  return loaded;
}

function load(hasAvx512: boolean): Sgemm | { readonly reason: string } {
  process.env.OPENBLAS_NUM_THREADS = '1';
  process.env.OPENBLAS_CORETYPE ??= hasAvx512 ? 'SkylakeX' : 'Haswell';
  for (const name of NAMES) {
    let library: ReturnType<typeof koffi.load>;
    try {
      library = koffi.load(name);
    } catch {
      continue;
    }
    const core = library.func('const char *openblas_get_corename()')() as string;
    const sgemm = library.func(
      'void cblas_sgemm(int, int, int, int, int, int, float, float *, int, float *, int, float, _Inout_ float *, int)',
    );
    const ROW_MAJOR = 101;
    const NO_TRANSPOSE = 111;
    return {
      core,
      run: (m, n, k, a, b, c) =>
        sgemm(ROW_MAJOR, NO_TRANSPOSE, NO_TRANSPOSE, m, n, k, 1, a, k, b, n, 0, c, n),
    };
  }
  return { reason: 'OpenBLAS is not installed (Debian: libopenblas0)' };
}
