import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { nearest } from '../src/datapath/aliases/nearest.js';
import { ENTRIES } from '../src/datapath/catalog/index.js';
import {
  catalog,
  defaultOp,
  devices,
  FORMAT_NAMES,
  type FormatName,
  findDevice,
  findFormat,
  findOp,
  UncharacterisedError,
  UnknownNameError,
  UnsupportedError,
} from '../src/index.js';

const data = process.env.BITMMA_DATA ?? fileURLToPath(new URL('../../../../shared', import.meta.url));

describe('findDevice', () => {
  it.each(
    devices().flatMap((device) =>
      [device.id, device.name, ...device.aliases].map((name) => [name, device.id] as const),
    ),
  )('%s is %s', (name, id) => {
    for (const form of [name, name.toUpperCase(), ` ${name} `]) expect(findDevice(form).id).toBe(id);
  });

  it.each([
    ['NVIDIA H100 PCIe', 'h100'],
    ['NVIDIA H100 80GB HBM3', 'h100'],
    ['NVIDIA H100 NVL', 'h100'],
    ['NVIDIA H200', 'h200'],
    ['NVIDIA H200 NVL', 'h200'],
    ['NVIDIA B200', 'b200'],
    ['NVIDIA A100-SXM4-80GB', 'a100'],
    ['NVIDIA A100-PCIE-40GB', 'a100'],
    ['NVIDIA A30', 'a30'],
    ['NVIDIA A2', 'a2'],
    ['Tesla V100-SXM2-32GB', 'v100'],
    ['Tesla V100-PCIE-16GB', 'v100'],
    ['Tesla T4', 't4'],
    ['NVIDIA L40S', 'l40s'],
    ['NVIDIA GeForce RTX 4060', 'rtx4060'],
    ['GeForce RTX 4060 Laptop GPU', 'rtx4060'],
    ['NVIDIA RTX 1000 Ada Generation Laptop GPU', 'rtx1000'],
    ['NVIDIA RTX PRO 6000 Blackwell Server Edition', 'rtx-pro-6000'],
    ['NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition', 'rtx-pro-6000'],
    ['NVIDIA GeForce RTX 5090', 'rtx50'],
    ['NVIDIA GeForce RTX 5070 Ti', 'rtx50'],
    ['AMD Instinct MI100', 'mi100'],
    ['AMD Instinct MI210', 'mi210'],
    ['AMD Instinct MI250X', 'mi250x'],
    ['AMD Instinct MI250X/MI250', 'mi250x'],
    ['Instinct MI300X', 'mi300x'],
    ['AMD Instinct MI300X OAM', 'mi300x'],
    ['AMD Instinct MI300A', 'mi300a'],
    ['gfx90a:sramecc+:xnack-', 'mi250'],
    ['gfx942:sramecc+:xnack-', 'mi300x'],
    ['amdgcn-amd-amdhsa--gfx942', 'mi300x'],
    ['sm90', 'h100'],
    ['compute_90a', 'h100'],
    ['9.0', 'h100'],
    ['compute capability 8.9', 'rtx1000'],
    ['cc 12.0', 'rtx-pro-6000'],
    ['10.0', 'b200'],
    ['Ada', 'rtx1000'],
  ])('%s is %s', (name, id) => {
    expect(findDevice(name).id).toBe(id);
  });

  it('names a device no other name names', () => {
    const seen = new Map<string, string>();
    for (const device of devices())
      for (const name of [device.id, device.name, ...device.aliases]) {
        const key = name.toLowerCase().replace(/[^a-z0-9]/g, '');
        expect(seen.get(key) ?? device.id).toBe(device.id);
        seen.set(key, device.id);
      }
  });

  it('has siblings of the same architecture, both ways', () => {
    for (const device of devices())
      for (const sibling of device.siblings) {
        expect(findDevice(sibling).arch).toBe(device.arch);
        expect(findDevice(sibling).siblings).toContain(device.id);
      }
  });

  it.each([
    'MI350X',
    'AMD Instinct MI355X',
    'mi325x',
    'gfx950',
    'CDNA4',
    'gfx940',
    'gfx1100',
    'gfx1201',
    'Radeon RX 7900 XTX',
    'Radeon RX 9070 XT',
    'RDNA3',
    'B300',
    'NVIDIA GB300',
    'sm_103',
    'sm_103a',
    '10.3',
    'Blackwell Ultra',
    'Jetson AGX Thor',
    'sm_110',
    'sm_101',
    '11.0',
    'GB10',
    'sm_121',
    'Jetson AGX Orin',
    'sm_87',
    'Rubin',
    'GH200',
    'NVIDIA GH200 480GB',
    'GB200',
    'H20',
    'H800',
    'A10',
    'A10G',
    'A40',
    'L4',
    'L40',
    'NVIDIA GeForce RTX 4090',
    'GeForce RTX 3090',
    'RTX 2080 Ti',
    'RTX 6000 Ada Generation',
    'NVIDIA RTX A6000',
    'NVIDIA RTX PRO 4500 Blackwell',
    'Titan V',
    'Quadro RTX 8000',
    'TPU v5e',
    'Gaudi3',
    'Radeon VII',
    'MI300C',
    'gfx1100:xnack-',
  ])('refuses %s as uncharacterised', (name) => {
    expect(() => findDevice(name)).toThrow(UncharacterisedError);
  });

  it.each([
    ['h10', 'h100'],
    ['mi300y', 'mi300x'],
    ['l40ss', 'l40s'],
    ['b20', 'b200'],
    ['gfx943', 'gfx942'],
    ['sm_71', 'sm_70'],
    ['', 'a2'],
    ['RTX 5090 Ti', 'rtx 5090'],
  ])('does not know %s, nearest among others %s', (name, close) => {
    const error = caught(() => findDevice(name));
    expect(error).toBeInstanceOf(UnknownNameError);
    expect((error as UnknownNameError).nearest).toContain(close);
  });
});

describe('findOp', () => {
  it('maps every spelling of an entry to its op', () => {
    for (const { op, spellings } of ENTRIES)
      for (const spelling of spellings) expect(findOp(op.device, spelling)).toBe(op);
  });

  it('takes full PTX, with every layout', () => {
    for (const op of catalog()) {
      const { instruction } = op;
      const full = instruction.startsWith('mma.sync.')
        ? [instruction.replace(/^mma\.sync\.(m\d+n\d+k\d+)/, 'mma.sync.aligned.$1.row.col')]
        : instruction.startsWith('wgmma')
          ? [
              instruction.replace('mma_async.', 'mma_async.sync.aligned.'),
              instruction.replace('m64n8k', 'm64n256k'),
              instruction.replace('m64n8k', 'm64n16k'),
            ]
          : instruction.startsWith('tcgen05')
            ? [
                instruction.replace('kind::', 'cta_group::1.kind::'),
                instruction.replace('kind::', 'cta_group::2.kind::'),
              ]
            : [
                instruction.toUpperCase(),
                instruction.replace(/^v_/, '__builtin_amdgcn_'),
                instruction.replace(/^v_/, 'llvm.amdgcn.').replaceAll('_', '.'),
              ];
      for (const name of full) expect(findOp(op.device, name)).toBe(op);
    }
  });

  it.each([
    ['v100', 'mma.sync.aligned.m8n8k4.col.row.f32.f16.f16.f32', 'mma.sync.m8n8k4.f32.f16.f16.f32'],
    ['v100', 'llvm.nvvm.mma.m8n8k4.row.col.f32.f16', 'mma.sync.m8n8k4.f32.f16.f16.f16'],
    ['a100', 'llvm.nvvm.mma.m16n8k16.row.col.f32.f32', 'mma.sync.m16n8k16.f32.f16.f16.f32'],
    ['a100', 'llvm.nvvm.mma.m16n8k16.row.col.f16.f16', 'mma.sync.m16n8k16.f16.f16.f16.f16'],
    ['a100', 'llvm.nvvm.mma.m16n8k16.row.col.bf16', 'mma.sync.m16n8k16.f32.bf16.bf16.f32'],
    ['a100', 'llvm.nvvm.mma.m16n8k8.row.col.tf32', 'mma.sync.m16n8k8.f32.tf32.tf32.f32'],
    ['a100', 'llvm.nvvm.mma.m8n8k4.row.col.f64', 'mma.sync.m8n8k4.f64.f64.f64.f64'],
    ['a100', 'llvm.nvvm.mma.m16n8k32.row.col.s8', 'mma.sync.m16n8k32.s32.s8.s8.s32'],
    ['a100', 'llvm.nvvm.mma.m16n8k32.row.col.satfinite.u8.s8', 'mma.sync.m16n8k32.satfinite.s32.u8.s8.s32'],
    ['a100', 'mma.sync.m16n8k32.s32.u8.s8.s32.satfinite', 'mma.sync.m16n8k32.satfinite.s32.u8.s8.s32'],
    ['rtx4060', 'llvm.nvvm.mma.m16n8k32.row.col.f32.e4m3.e5m2.f32', 'mma.sync.m16n8k32.f32.e4m3.e5m2.f32'],
    [
      'h100',
      'wgmma.mma_async.sync.aligned.m64n128k32.s32.u8.s8.satfinite',
      'wgmma.mma_async.m64n8k32.satfinite.s32.u8.s8',
    ],
    [
      'b200',
      'tcgen05.mma.sp.cta_group::2.kind::i8.s32.u8.s8.satfinite',
      'tcgen05.mma.sp.kind::i8.s32.u8.s8.satfinite',
    ],
    [
      'b200',
      'tcgen05.mma.cta_group::1.kind::tf32.collector::a::use.f32.tf32.tf32',
      'tcgen05.mma.kind::tf32.f32.tf32.tf32',
    ],
    [
      'b200',
      'tcgen05.mma.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e4m3.ue8m0',
      'tcgen05.mma.kind::mxf8f6f4.block_scale.f32.e4m3.e4m3.ue8m0',
    ],
    [
      'b200',
      'tcgen05.mma.cta_group::1.kind::mxf4.block_scale.f32.e2m1.e2m1.ue8m0',
      'tcgen05.mma.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.ue8m0',
    ],
    [
      'b200',
      'tcgen05.mma.kind::mxf8f6f4.block_scale.block32.f32.e4m3.e2m1.ue8m0',
      'tcgen05.mma.kind::mxf8f6f4.block_scale.f32.e4m3.e2m1.ue8m0',
    ],
    [
      'b200',
      'tcgen05.mma.kind::mxf4nvf4.block_scale.block16.f32.e2m1.e2m1.ue4m3',
      'tcgen05.mma.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.ue4m3',
    ],
    [
      'rtx50',
      'mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32',
      'mma.sync.m16n8k32.kind::f8f6f4.f32.e4m3.e5m2.f32',
    ],
    [
      'rtx50',
      'mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f16.e2m1.e3m2.f16',
      'mma.sync.m16n8k32.kind::f8f6f4.f16.e2m1.e3m2.f16',
    ],
    [
      'rtx50',
      'mma.sync.aligned.kind::f8f6f4.m16n8k32.row.col.f32.e2m1.e3m2.f32',
      'mma.sync.m16n8k32.kind::f8f6f4.f32.e2m1.e3m2.f32',
    ],
    [
      'rtx50',
      'mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3',
      'mma.sync.m16n8k64.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3',
    ],
    ['mi100', 'v_mfma_f32_32x32x1_2b_f32', 'v_mfma_f32_32x32x1f32'],
    ['mi100', 'llvm.amdgcn.mfma.f32.16x16x16f16', 'v_mfma_f32_16x16x16f16'],
    ['mi100', 'v_mfma_f32_16x16x8_bf16', 'v_mfma_f32_16x16x8bf16'],
    ['mi250', 'v_mfma_f32_32x32x4bf16', 'v_mfma_f32_32x32x4bf16'],
    ['mi250', '__builtin_amdgcn_mfma_f32_32x32x4bf16_1k', 'v_mfma_f32_32x32x4bf16_1k'],
    ['mi250', 'llvm.amdgcn.mfma.f32.32x32x4bf16.1k', 'v_mfma_f32_32x32x4bf16_1k'],
    ['mi250', 'v_mfma_f32_16x16x16_bf16', 'v_mfma_f32_16x16x16bf16_1k'],
    ['mi210', 'v_mfma_f64_4x4x4_4b_f64', 'v_mfma_f64_4x4x4f64'],
    ['mi300x', 'v_mfma_f32_16x16x16f16', 'v_mfma_f32_16x16x16_f16'],
    ['mi300x', 'v_mfma_f32_32x32x8_bf16_1k', 'v_mfma_f32_32x32x8_bf16'],
    ['mi300x', 'v_mfma_f32_32x32x4bf16_1k', 'v_mfma_f32_32x32x4_2b_bf16'],
    ['mi300x', 'llvm.amdgcn.mfma.f32.16x16x32.fp8.bf8', 'v_mfma_f32_16x16x32_fp8_bf8'],
    ['mi300x', 'llvm.amdgcn.mfma.f32.16x16x8.xf32', 'v_mfma_f32_16x16x8_xf32'],
    ['mi300a', 'v_mfma_i32_16x16x32i8', 'v_mfma_i32_16x16x32_i8'],
  ])('%s: %s is %s', (device, spelling, instruction) => {
    expect(findOp(device, spelling).instruction).toBe(instruction);
  });

  it.each([
    ['h100', 'mma.sync.m16n8k16.f32.e4m3.e4m3.f32'],
    ['h200', 'mma.sync.aligned.m16n8k16.row.col.f16.e5m2.e4m3.f16'],
    ['b200', 'mma.sync.m16n8k16.f32.e4m3.e4m3.f32'],
    ['a100', 'mma.sync.m8n8k4.f32.f16.f16.f32'],
    ['a100', 'mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32'],
    ['a100', 'mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32'],
    ['rtx50', 'mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f32.e4m3.e4m3.f32'],
    ['h100', 'wgmma.mma_async.sp.sync.aligned.m64n64k32.f32.f16.f16'],
    ['a100', 'wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32'],
    ['b200', 'tcgen05.mma.ws.cta_group::1.kind::f16.f32.f16.f16'],
    ['mi300x', 'v_smfmac_f32_16x16x32_f16'],
    ['mi300x', 'v_mfma_scale_f32_16x16x128_f8f6f4'],
  ])('refuses %s: %s as uncharacterised', (device, name) => {
    expect(() => findOp(device, name)).toThrow(UncharacterisedError);
  });

  it.each([
    ['v100', 'mma.sync.m16n8k16.f32.bf16.bf16.f32', 'a100'],
    ['t4', 'mma.sync.m16n8k16.f32.f16.f16.f32', 'a100'],
    ['a100', 'wgmma.mma_async.m64n8k16.f32.f16.f16', 'h100'],
    ['h100', 'tcgen05.mma.kind::f16.f32.f16.f16', 'b200'],
    ['b200', 'wgmma.mma_async.m64n8k16.f32.f16.f16', 'h100'],
    ['mi100', 'v_mfma_f32_16x16x16bf16_1k', 'mi210'],
    ['mi300x', 'v_mfma_f32_32x32x4bf16', 'mi100'],
    ['mi300x', 'mma.sync.m16n8k16.f32.f16.f16.f32', 'a100'],
  ])('%s has no %s; says who has it', (device, name, other) => {
    const error = caught(() => findOp(device, name));
    expect(error).toBeInstanceOf(UnknownNameError);
    expect((error as Error).message).toContain(other);
    for (const close of (error as UnknownNameError).nearest) findOp(device, close);
  });

  it.each([
    ['h100', 'wgmma.mma_async.m64n12k16.f32.f16.f16'],
    ['h100', 'wgmma.mma_async.m64n264k16.f32.f16.f16'],
    ['h100', 'wgmma.mma_async.m64n40k32.s32.s8.s8'],
    ['h100', 'mma.sync.m16n8k16.f32.f16.bf16.f32'],
    ['h100', 'mma.sync.m16n8k16.f32.f16.f16.f16'],
    ['b200', 'tcgen05.mma.kind::f16'],
    ['b200', 'tcgen05.mma.kind::mxf8f6f4.block_scale.scale_vec::4X.f32.e4m3.e4m3.ue8m0'],
    ['b200', 'tcgen05.mma.kind::mxf8f6f4.f32.e4m3.e4m3.ue8m0'],
    ['b200', 'tcgen05.mma.kind::f16.block_scale.f32.f16.f16'],
    ['h100', 'mma.sync.m16n8k16.block_scale.f32.f16.f16.f32'],
    ['h100', 'mma.sync.m16n8k16.m16n8k16.f32.f16.f16.f32'],
    ['b200', 'tcgen05.mma.kind::mxf4nvf4.block_scale.f32.e2m1.e2m1.ue8m0'],
    ['b200', 'tcgen05.mma.kind::f16.turbo.f32.f16.f16'],
    ['a100', 'mma.sync.m16n8k16.fast.f32.f16.f16.f32'],
    ['b200', 'tcgen05.mma.kind::f16.f16.bf16.bf16'],
    ['mi300x', 'v_mfma_f32_17x17x17_f16'],
    ['mi300x', ''],
  ])('does not know %s: %s', (device, name) => {
    const error = caught(() => findOp(device, name));
    expect(error).toBeInstanceOf(UnknownNameError);
    expect((error as UnknownNameError).nearest.length).toBeGreaterThan(0);
  });
});

describe('defaultOp', () => {
  it('resolves every default of every device', () => {
    for (const device of devices())
      for (const { a, b, accumulate, scale, instruction } of device.defaults) {
        const op = defaultOp(device, { a, b, accumulate, ...(scale && { scale }) });
        expect(op).toMatchObject({
          device: device.id,
          instruction,
          a,
          b,
          c: accumulate,
          d: accumulate,
          sparsity: null,
        });
      }
  });

  it('covers every pair of formats that a device multiplies', () => {
    for (const op of catalog())
      if (op.sparsity === null && op.c === op.d)
        defaultOp(op.device, {
          a: op.a,
          b: op.b,
          accumulate: op.d,
          ...(op.scaling && { scale: op.scaling.format }),
        });
  });

  it.each([
    ['h100', 'e4m3', 'e4m3', 'wgmma.mma_async.m64n8k32.f32.e4m3.e4m3'],
    ['h100', 'fp64', 'fp64', 'mma.sync.m16n8k16.f64.f64.f64.f64'],
    ['h200', 'bf16', 'bf16', 'wgmma.mma_async.m64n8k16.f32.bf16.bf16'],
    ['b200', 'fp16', 'fp16', 'tcgen05.mma.kind::f16.f32.f16.f16'],
    ['b200', 's8', 'u8', 'tcgen05.mma.kind::i8.s32.s8.u8'],
    ['rtx4060', 'e5m2', 'e4m3', 'mma.sync.m16n8k32.f32.e5m2.e4m3.f32'],
    ['a100', 'tf32', 'tf32', 'mma.sync.m16n8k8.f32.tf32.tf32.f32'],
    ['mi100', 'bf16', 'bf16', 'v_mfma_f32_16x16x8bf16'],
    ['mi250', 'fp16', 'fp16', 'v_mfma_f32_16x16x16f16'],
    ['mi300x', 'e4m3fnuz', 'e5m2fnuz', 'v_mfma_f32_16x16x32_fp8_bf8'],
    ['mi300x', 'fp32', 'fp32', 'v_mfma_f32_16x16x4_f32'],
  ] as const)('%s %s x %s is %s', (device, a, b, instruction) => {
    expect(defaultOp(device, { a, b }).instruction).toBe(instruction);
  });

  it('refuses formats that a device does not multiply', () => {
    expect(() => defaultOp('v100', { a: 'bf16', b: 'bf16' })).toThrow(UnsupportedError);
    expect(() => defaultOp('mi300x', { a: 'e4m3', b: 'e4m3' })).toThrow(
      'mi300x has no matrix instruction for e4m3',
    );
    expect(() => defaultOp('a100', { a: 'bf16', b: 'bf16', accumulate: 'fp16' })).toThrow(UnsupportedError);
  });
});

describe('findFormat', () => {
  it.each(FORMAT_NAMES)('%s is itself', (name) => {
    expect(findFormat(name)).toBe(name);
    expect(findFormat(name.toUpperCase())).toBe(name);
  });

  it.each([
    ['torch.float8_e4m3fn', 'e4m3'],
    ['torch.float8_e5m2', 'e5m2'],
    ['torch.float8_e4m3fnuz', 'e4m3fnuz'],
    ['torch.float8_e5m2fnuz', 'e5m2fnuz'],
    ['torch.float8_e8m0fnu', 'ue8m0'],
    ['torch.float4_e2m1fn_x2', 'e2m1'],
    ['torch.bfloat16', 'bf16'],
    ['torch.half', 'fp16'],
    ['torch.double', 'fp64'],
    ['torch.int8', 's8'],
    ['torch.uint8', 'u8'],
    ['ml_dtypes.float8_e4m3fn', 'e4m3'],
    ['ml_dtypes.float6_e3m2fn', 'e3m2'],
    ['ml_dtypes.float6_e2m3fn', 'e2m3'],
    ['ml_dtypes.float4_e2m1fn', 'e2m1'],
    ['ml_dtypes.bfloat16', 'bf16'],
    ['E4M3', 'e4m3'],
    ['E8M0', 'ue8m0'],
    ['MXFP4', 'e2m1'],
    ['MXFP8_E5M2', 'e5m2'],
    ['NVFP4', 'e2m1'],
    ['F8_E4M3', 'e4m3'],
    ['F8_E5M2', 'e5m2'],
    ['F8_E8M0', 'ue8m0'],
    ['F16', 'fp16'],
    ['BF16', 'bf16'],
    ['F32', 'fp32'],
    ['F64', 'fp64'],
    ['I8', 's8'],
    ['U8', 'u8'],
    ['xf32', 'tf32'],
    ['np.float32', 'fp32'],
  ] as const)('%s is %s', (name, format: FormatName) => {
    expect(findFormat(name)).toBe(format);
  });

  it.each([
    ['e4m3', 'e4m3'],
    ['E4M3', 'e4m3'],
    ['fp8', 'e4m3'],
    ['FP8_E4M3', 'e4m3'],
    ['e5m2', 'e5m2'],
    ['bf8', 'e5m2'],
  ])('refuses a bare %s on CDNA3 with both readings', (name, format) => {
    for (const device of ['mi300x', 'mi300a', 'gfx942']) {
      const error = caught(() => findFormat(name, { device }));
      expect(error).toBeInstanceOf(UnknownNameError);
      expect((error as UnknownNameError).nearest).toEqual([`${format}fnuz`, format]);
      expect((error as Error).message).toContain(`${format}fnuz`);
      expect((error as Error).message).toContain('OCP');
    }
  });

  it('takes names on CDNA3 that leave nothing open', () => {
    expect(findFormat('torch.float8_e4m3fnuz', { device: 'mi300x' })).toBe('e4m3fnuz');
    expect(findFormat('torch.float8_e4m3fn', { device: 'mi300x' })).toBe('e4m3');
    expect(findFormat('fp16', { device: 'mi300x' })).toBe('fp16');
    expect(findFormat('e4m3', { device: 'h100' })).toBe('e4m3');
  });

  it.each(['fp8', 'float8', 'bf8', 'mxfp8', 'fp6', 'ml_dtypes.float8_e4m3'])(
    'refuses %s, which several formats share',
    (name) => {
      const error = caught(() => findFormat(name));
      expect(error).toBeInstanceOf(UnknownNameError);
      expect((error as UnknownNameError).nearest.length).toBeGreaterThan(1);
    },
  );

  it.each([
    ['flot16', 'float16'],
    ['e4m4', 'e4m3'],
    ['bfloat61', 'bfloat16'],
    ['float8_e3m4', 'float8_e5m2'],
  ])('does not know %s, nearest among others %s', (name, close) => {
    const error = caught(() => findFormat(name));
    expect(error).toBeInstanceOf(UnknownNameError);
    expect((error as UnknownNameError).nearest).toContain(close);
  });
});

describe('recordings', () => {
  const folder = `${data}/recordings`;
  const FORMATS: Readonly<Record<string, FormatName>> = {
    fp16: 'fp16',
    bf16: 'bf16',
    tf32: 'tf32',
    E4M3: 'e4m3',
    E5M2: 'e5m2',
  };

  it.skipIf(!existsSync(folder))('every recorded set has an op whose K holds its terms', () => {
    let sets = 0;
    for (const gpu of readdirSync(folder).filter(
      (name) => /^[A-Z]+\d*$/i.test(name) && existsSync(`${folder}/${name}/fp16`),
    ))
      for (const directory of readdirSync(`${folder}/${gpu}`))
        for (const out of ['fp16', 'fp32'] as const) {
          const file = `${folder}/${gpu}/${directory}/d_${gpu}_${out}.txt`;
          if (!existsSync(file)) continue;
          const format = findFormat(directory);
          expect(format).toBe(FORMATS[directory]);
          const ops = catalog().filter(
            (op) =>
              op.device === findDevice(gpu).id &&
              op.a === format &&
              op.b === format &&
              op.d === out &&
              op.c === out,
          );
          const line = readFileSync(`${folder}/${gpu}/${directory}/a_${gpu}_${directory}.txt`, 'utf8').split(
            '\n',
          )[0];
          const k = line.trim().split(/\s+/).length;
          expect(ops.some((op) => op.k >= k && op.evidence.level !== 'derived')).toBe(true);
          sets++;
        }
    expect(sets).toBeGreaterThanOrEqual(25);
  });
});

it('nearest is case-blind, distinct and ordered', () => {
  expect(nearest('H10', ['b200', 'h100', 'h100', 'h200'], 2)).toEqual(['h100', 'h200']);
});

function caught(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  return undefined;
}
