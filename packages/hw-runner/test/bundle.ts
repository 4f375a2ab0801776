import { readFileSync } from 'node:fs';
import type { KernelLine } from './executable.js';

/** Kernels that one run of a compiler takes: a module whose entries are renamed kernel_0, kernel_1, … */
export interface Bundle {
  readonly arch: string;
  readonly kernels: readonly KernelLine[];
  readonly source: string;
}

const group = (kernels: readonly KernelLine[], key: (k: KernelLine, text: string) => string) => {
  const groups = new Map<string, [KernelLine, string][]>();
  for (const k of kernels) {
    const text = readFileSync(k.file, 'utf8');
    const name = key(k, text);
    groups.set(name, [...(groups.get(name) ?? []), [k, text]]);
  }
  return [...groups.values()];
};

/** PTX of one target, version and architecture in one module: the text of each kernel is unchanged but for its name. */
export function ptxBundles(kernels: readonly KernelLine[], gpuName: (k: KernelLine) => string): Bundle[] {
  const head = (text: string) => text.slice(0, text.indexOf('.visible'));
  return group(kernels, (k, text) => `${gpuName(k)} ${head(text)}`).map((members) => ({
    arch: gpuName(members[0][0]),
    kernels: members.map(([k]) => k),
    source:
      head(members[0][1]) +
      members
        .map(([, text], i) =>
          text.slice(text.indexOf('.visible')).replace('.entry bitmma(', `.entry kernel_${i}(`),
        )
        .join('\n'),
  }));
}

/** HIP of one architecture in one file, a namespace each. */
export function hipBundles(kernels: readonly KernelLine[]): Bundle[] {
  return group(kernels, (k) => k.arch).map((members) => ({
    arch: members[0][0].arch,
    kernels: members.map(([k]) => k),
    source: members
      .map(([, text], i) => `namespace n${i} {\n${text.replace('void bitmma(', `void kernel_${i}(`)}}\n`)
      .join('\n'),
  }));
}
