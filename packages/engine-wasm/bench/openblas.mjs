// Single-threaded OpenBLAS sgemm of a named core type. The environment is read when the library loads.
import koffi from 'koffi';

const ROW_MAJOR = 101;
const NO_TRANSPOSE = 111;

/** @returns a function that multiplies two n x n fp32 matrices, and the core type that OpenBLAS says it runs. */
export function openblas(core = 'SkylakeX') {
  process.env.OPENBLAS_CORETYPE = core;
  process.env.OPENBLAS_NUM_THREADS = '1';
  // process.env does not reach the C environment of a library that node loads later unless setenv is called.
  const libc = koffi.load('libc.so.6');
  const setenv = libc.func('int setenv(const char *name, const char *value, int overwrite)');
  setenv('OPENBLAS_CORETYPE', core, 1);
  setenv('OPENBLAS_NUM_THREADS', '1', 1);
  const library = koffi.load('libopenblas.so.0');
  const corename = library.func('const char *openblas_get_corename()')();
  library.func('void openblas_set_num_threads(int)')(1);
  if (corename !== core) throw new Error(`expected OpenBLAS to run ${core}, got ${corename}`);
  const sgemm = library.func(
    'void cblas_sgemm(int, int, int, int, int, int, float, float *, int, float *, int, float, _Inout_ float *, int)',
  );
  return {
    corename,
    sgemm(n, a, b, c) {
      sgemm(ROW_MAJOR, NO_TRANSPOSE, NO_TRANSPOSE, n, n, n, 1, a, n, b, n, 0, c, n);
    },
  };
}
