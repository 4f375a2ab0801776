#!/usr/bin/env node
import { processIo } from './io.js';
import { runCli } from './program.js';

const controller = new AbortController();
// The first Ctrl-C ends the work in order; a second one ends the process, whose exit handlers remove temporary files.
process.once('SIGINT', () => {
  controller.abort();
  process.once('SIGINT', () => process.exit(130));
});
process.once('SIGTERM', () => controller.abort());
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});
process.exitCode = await runCli(process.argv.slice(2), processIo(controller.signal));
