export { run } from './chain';
export {
  bias,
  dropped,
  exponentBits,
  fractionBits,
  layout,
  pack,
  scaleBias,
  scaleExponentBits,
  scaleFractionBits,
  signed,
  specials,
  wordBytes,
} from './pack';
export * from './params';

/** First free byte: the host lays out everything above. */
export function heapBase(): usize {
  return __heap_base;
}
