/** Real hardware and instructions that no document or recording characterises; refused, never approximated. */

interface Refusal {
  /** Over the plain form of a device name (lower case, letters and digits alone). */
  readonly pattern: RegExp;
  readonly what: string;
}

/** Devices with matrix units of unknown arithmetic. */
export const UNCHARACTERISED_DEVICES: readonly Refusal[] = [
  { pattern: /^(cdna4|gfx950|mi350[xp]?|mi355x?)$/, what: 'AMD CDNA4' },
  { pattern: /^(cdna5|gfx1250|mi4[0-9]{2}[a-z]?)$/, what: 'AMD CDNA5' },
  { pattern: /^gfx94[01]$/, what: 'AMD MI300 pre-production targets' },
  {
    pattern:
      /^(rdna[0-9]?|gfx1[0-9]{3}|rx?[5-9][0-9]{3}(xtx|xt|gre|m|s)?|w[679][0-9]{3}|radeonvii|gfx906|mi50|mi60)$/,
    what: 'AMD RDNA (WMMA) and Vega',
  },
  { pattern: /^(sm103[af]?|b300|gb300|blackwellultra)$/, what: 'NVIDIA B300 (sm_103)' },
  {
    pattern: /^(sm101[af]?|sm110[af]?|thor|jetsonthor|jetsonagxthor|agxthor|t5000|t4000)$/,
    what: 'NVIDIA Jetson Thor (sm_101, sm_110)',
  },
  { pattern: /^(sm121[af]?|gb10|dgxspark|spark)$/, what: 'NVIDIA GB10 (sm_121)' },
  {
    pattern: /^(sm72|xavier|agxxavier|xaviernx|sm87|sm88|orin|agxorin|orinnx|jetson.*)$/,
    what: 'NVIDIA Jetson',
  },
  { pattern: /^(rubin|vr200|r100|feynman|sm1[3-9][0-9][af]?|sm107[af]?)$/, what: 'NVIDIA Rubin and later' },
  {
    pattern: /^(gh200|gb200|h20|h800|b100|a800|mi300c|mi308x?|mi325x?)$/,
    what: 'this part (its architecture is catalogued under other devices)',
  },
  {
    pattern:
      /^(a10g?|a16|a40|a[2456][05]00|l4|l20|l40|titan(v|rtx)|quadro.*|rtx(20[5678]0|30[5-9]0|40[5-9]0)(ti|super|tisuper|d|m)?|rtx(3000|3500|4000|4500|5000|5880|6000|8000)(ada)?|rtxa[0-9]{4}|rtx500(ada)?|rtx2000(ada)?|rtxpro[1-5][05]00(blackwell)?|gtx16[0-9]{2}(ti|super)?)$/,
    what: 'this part (its architecture may be catalogued under other devices)',
  },
  {
    pattern: /^(ponte.*|gaudi[0-9]?|tpuv?[0-9].*|trainium.*|maia.*|m[1-9](pro|max|ultra)?)$/,
    what: 'this accelerator',
  },
];

interface InstructionRefusal {
  readonly pattern: RegExp;
  /** Only on devices of these architectures; absent: on all. */
  readonly archs?: readonly string[];
  readonly what: string;
}

/** Instructions that exist and nobody characterised, over the normalised name. */
export const UNCHARACTERISED_INSTRUCTIONS: readonly InstructionRefusal[] = [
  {
    pattern: /^mma\.sync\.m16n8k16\..*\.(e4m3|e5m2)\./,
    archs: ['hopper', 'blackwell', 'blackwell-consumer'],
    what: 'FP8 mma.sync m16n8k16 on sm_90 and later',
  },
  {
    pattern: /^mma\.sync\.m8n8k4\..*\.f16\.f16\./,
    archs: ['turing', 'ampere', 'ada', 'hopper', 'blackwell', 'blackwell-consumer'],
    what: 'fp16 mma.sync m8n8k4 on sm_75 and later',
  },
  { pattern: /^mma\.sp\b/, what: 'sparse mma.sp' },
  { pattern: /^wgmma\.mma_async\.sp\b/, what: 'sparse wgmma' },
  {
    pattern: /^wmma\./,
    what: 'wmma.mma, whose steps the compiler chooses: name the mma.sync that it compiles to',
  },
  { pattern: /^tcgen05\.mma\.(sp\.)?ws\b/, what: 'tcgen05.mma.ws' },
  { pattern: /^(mma|wgmma)\..*\.(s4|u4|b1)\./, what: 'four-bit and one-bit integers' },
  { pattern: /^v_smfmac_/, what: "AMD's sparse smfmac" },
  { pattern: /^v_(s?wmma|swmmac)_/, what: "AMD RDNA's wmma" },
  { pattern: /^v_mfma_scale_/, what: "CDNA4's scaled MFMA" },
];
