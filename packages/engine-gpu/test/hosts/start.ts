import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';

const SWIFTSHADER = '/usr/lib/chromium/vk_swiftshader_icd.json';

/** Starts an X server on a free display; null where Xvfb is not installed. */
function startXvfb(): Promise<{ server: ChildProcess; display: string } | null> {
  return new Promise((resolve) => {
    const server = spawn('Xvfb', ['-displayfd', '3', '-screen', '0', '64x64x24', '-nolisten', 'tcp'], {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    });
    server.once('error', () => resolve(null));
    server.once('exit', () => resolve(null));
    let text = '';
    server.stdio[3]!.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (text.includes('\n')) resolve({ server, display: `:${text.trim()}` });
    });
  });
}

/** Software renderers for machines without a GPU: an X server for headless gl, SwiftShader's Vulkan for Dawn. */
export default async function start(): Promise<() => void> {
  if (process.env.VK_ICD_FILENAMES === undefined && existsSync(SWIFTSHADER))
    process.env.VK_ICD_FILENAMES = SWIFTSHADER;
  if (process.platform !== 'linux' || process.env.DISPLAY) return () => {};
  const started = await startXvfb();
  if (started === null) return () => {};
  process.env.DISPLAY = started.display;
  return () => {
    started.server.kill();
  };
}
