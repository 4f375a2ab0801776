export * from './infer/bound.js';
export * from './infer/identify.js';
export { type Mutant, mutantsOf } from './infer/mutants.js';
export { type AxisReport, type Survey, survey } from './infer/survey.js';
export { type Evidence, type Feature, readFeatures } from './probes/readings.js';
export * from './signature.js';
export * from './space/normal-form.js';
