#!/usr/bin/env node
const controller = new AbortController();
/** A tile in flight may last; work that has not ended in order by then is left to the exit handlers. */
const GRACE_MS = 1500;

function cancel(): void {
  controller.abort();
  setTimeout(leave, GRACE_MS).unref();
  process.once('SIGINT', leave);
}

/** Ends the process; exit handlers remove temporary files. */
function leave(): never {
  process.stderr.write('bitmma: cancelled\n');
  process.exit(130);
}

process.once('SIGINT', cancel);
process.once('SIGTERM', cancel);
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});
// Loaded after the handlers, so that Ctrl-C counts from the first moment.
const { processIo } = await import('./io.js');
const { runCli } = await import('./program.js');
const code = await runCli(process.argv.slice(2), processIo(controller.signal));
// Cancelled work may still hold worker threads.
if (controller.signal.aborted) process.exit(code);
process.exitCode = code;

export {};
