// After an install: one line where headless gl did not build, so that its absence is seen. Never fails.
import { createRequire } from 'node:module';

try {
  createRequire(import.meta.url)('gl');
} catch (error) {
  process.stdout.write(
    `headless gl is not built (${error.message.split('\n')[0]}): the webgl engine is not available in Node. ` +
      'On Debian: apt-get install libxi-dev pkg-config build-essential, then pnpm rebuild gl.\n',
  );
}
