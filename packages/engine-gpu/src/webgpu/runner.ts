import type { KRange, MmaOp } from '@bitmma/core';
import type { Device } from './device.js';
import { MAP_MODE_READ, STAGE_COMPUTE, USAGE, unavailable } from './gpu.js';
import type { Band } from './operands.js';
import { buildShader, type Mode, type Shader } from './shader.js';

/** Multiply-adds of one submission at most: far below a second on any GPU, so that no watchdog stops it. */
const SUBMISSION_TERMS = 2 ** 33;
const SLOT_BYTES = 256;

/** Quads of rows and columns that one dispatch computes; dots: `columns` is not used. */
export interface Window {
  readonly rowQuad0: number;
  readonly rowQuads: number;
  readonly colQuad0: number;
  readonly colQuads: number;
}

/** One compiled shader of an op. */
export class Runner {
  private constructor(
    private readonly device: Device,
    private readonly op: MmaOp,
    private readonly mode: Mode,
    private readonly shader: Shader,
    private readonly layout: GPUBindGroupLayout,
    private readonly pipeline: GPUComputePipeline,
  ) {}

  static async compile(device: Device, op: MmaOp, mode: Mode): Promise<Runner> {
    const shader = buildShader(op, mode);
    const { layout, module, pipeline } = await device.guarded(`the kernel of ${op.instruction}`, () => {
      const layout = device.gpu.createBindGroupLayout({
        entries: [
          { binding: 0, visibility: STAGE_COMPUTE, buffer: { type: 'uniform', hasDynamicOffset: true } },
          ...bindingsOf(op).map((binding) => ({
            binding,
            visibility: STAGE_COMPUTE,
            buffer: { type: binding === 3 ? ('storage' as const) : ('read-only-storage' as const) },
          })),
        ],
      });
      const module = device.gpu.createShaderModule({ code: shader.source });
      const pipeline = device.gpu
        .createComputePipelineAsync({
          layout: device.gpu.createPipelineLayout({ bindGroupLayouts: [layout] }),
          compute: { module, entryPoint: 'main' },
        })
        .then(
          (made) => ({ made }),
          (error: Error) => ({ error }),
        );
      return { layout, module, pipeline };
    });
    const compiled = await pipeline;
    device.check();
    if ('made' in compiled) return new Runner(device, op, mode, shader, layout, compiled.made);
    const fault = (await module.getCompilationInfo()).messages.find((message) => message.type === 'error');
    throw unavailable(
      `the device does not compile ${op.instruction}: ${fault ? `line ${fault.lineNum}: ${fault.message}` : compiled.error.message}`,
      'use another engine',
    );
  }

  /**
   * Runs the chain over a window of outputs whose words of c lie in `acc`, segment by segment in order; d replaces c.
   * Positions at or beyond a range's end read as +0.
   */
  submit(
    a: Band,
    b: Band,
    acc: GPUBuffer,
    window: Window,
    chain: readonly KRange[],
    scaleBlocks: number,
  ): GPUBuffer {
    const dispatches = this.segments(window, chain);
    const params = new Uint32Array((dispatches.length * SLOT_BYTES) / 4);
    dispatches.forEach(({ k0, k1, kEnd }, i) => {
      const { rowQuad0, rowQuads, colQuad0, colQuads } = window;
      const widen = i === 0 && this.op.c !== this.op.d ? 1 : 0;
      params.set(
        [k0, k1, kEnd, scaleBlocks, a.quads, b.quads, rowQuad0, rowQuads, colQuad0, colQuads, widen, 0],
        (i * SLOT_BYTES) / 4,
      );
    });
    const { gpu } = this.device;
    const uniforms = this.device.create(params.byteLength, USAGE.UNIFORM | USAGE.COPY_DST);
    gpu.queue.writeBuffer(uniforms, 0, params);
    const resource = (buffer: GPUBuffer | null): GPUBindingResource => ({ buffer: buffer! });
    const buffers = [null, a.words, b.words, acc, a.scales, b.scales, a.masks];
    const bindGroup = gpu.createBindGroup({
      layout: this.layout,
      entries: [
        { binding: 0, resource: { buffer: uniforms, size: SLOT_BYTES } },
        ...bindingsOf(this.op).map((binding) => ({ binding, resource: resource(buffers[binding]) })),
      ],
    });
    const { rows, cols } = this.shader.workgroup;
    const groups =
      this.mode.kind === 'dots'
        ? [Math.ceil(a.quads / cols), 1]
        : [
            Math.ceil((window.colQuads - window.colQuad0) / cols),
            Math.ceil((window.rowQuads - window.rowQuad0) / rows),
          ];
    dispatches.forEach((_, i) => {
      const encoder = gpu.createCommandEncoder();
      const pass = encoder.beginComputePass();
      pass.setPipeline(this.pipeline);
      pass.setBindGroup(0, bindGroup, [i * SLOT_BYTES]);
      pass.dispatchWorkgroups(groups[0], groups[1]);
      pass.end();
      gpu.queue.submit([encoder.finish()]);
    });
    return uniforms;
  }

  /** Ranges cut into whole instructions so that no submission is long; a ragged end is padded to an instruction. */
  private segments(window: Window, chain: readonly KRange[]): { k0: number; k1: number; kEnd: number }[] {
    const outputs =
      (window.rowQuads - window.rowQuad0) * 4 * Math.max(4, (window.colQuads - window.colQuad0) * 4);
    const { k } = this.op;
    const most = Math.max(1, Math.floor(SUBMISSION_TERMS / outputs / k)) * k;
    const segments: { k0: number; k1: number; kEnd: number }[] = [];
    for (const { k0, k1 } of chain)
      for (let at = k0; at < k1; at += most) {
        const end = Math.min(at + most, k1);
        segments.push({ k0: at, k1: end, kEnd: at + Math.ceil((end - at) / k) * k });
      }
    // An empty chain still widens c.
    return segments.length > 0 ? segments : [{ k0: 0, k1: 0, kEnd: 0 }];
  }
}

function bindingsOf(op: MmaOp): number[] {
  return [1, 2, 3, ...(op.scaling ? [4, 5] : []), ...(op.sparsity ? [6] : [])];
}

/** Words of a buffer, copied to the host; staging is released. */
export async function readBack(device: Device, acc: GPUBuffer): Promise<Uint32Array> {
  const staging = device.create(acc.size, USAGE.MAP_READ | USAGE.COPY_DST);
  try {
    const encoder = device.gpu.createCommandEncoder();
    encoder.copyBufferToBuffer(acc, 0, staging, 0, acc.size);
    device.gpu.queue.submit([encoder.finish()]);
    await staging.mapAsync(MAP_MODE_READ);
    return new Uint32Array(staging.getMappedRange().slice(0));
  } catch (error) {
    device.check();
    throw unavailable(`results did not come back: ${(error as Error).message}`, 'use smaller tiles');
  } finally {
    device.release(staging);
  }
}
