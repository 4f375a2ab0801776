/** The evidence column of the numerics page's section 5, with its sources. */
import type { Evidence, EvidenceLevel } from '../op.js';

export const evidence = (level: EvidenceLevel, source: string, note?: string): Evidence =>
  note === undefined ? { level, source } : { level, source, note };

export const RECORDINGS = 'MATLAB-tensor-core model_validation recordings (Khattak and Mikaitis)';
export const AMD_PAPER = 'Accurate Models of AMD Matrix Cores (Khattak, Mikaitis et al.)';
export const TCGEN05_STUDY = 'sf-tensor/tcgen05: a million hardware cases a datapath, 59 recorded words';
/** Said of every recorded NVIDIA window. */
export const FLOOR_NOTE =
  'N, F, rounding and c are recorded; the floor is published, no recorded word depends on it';

export const INTEGER_EXACT = evidence(
  'derived',
  'numerics 4.8: exact integer arithmetic as the instruction set defines it',
  'never checked on the device',
);
