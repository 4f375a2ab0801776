export {
  type AccumulationOptions,
  type AccumulationPoint,
  accumulation,
} from './accumulation/accumulation.js';
export { type Dataset, fromFiles, gaussian } from './accumulation/dataset.js';
export { accumulationFigures } from './accumulation/figures.js';
export { compareLayer } from './accumulation/layer.js';
export { multiwordFigure } from './multiword/figure.js';
export {
  HALF_DECADES,
  type MultiwordOptions,
  type MultiwordPoint,
  multiword,
  type Order,
  STUDY,
  type StudyFormat,
} from './multiword/multiword.js';
export { smdFigures } from './smd/figures.js';
export { type PolynomialMatrix, parahermitian } from './smd/polynomial.js';
export { type SmdOptions, type SmdResult, smd } from './smd/smd.js';
export { eigenvalueDifferences, type SmdPoint, type SmdStudyOptions, smdStudy } from './smd/study.js';
