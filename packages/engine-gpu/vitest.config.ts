import { defineConfig } from 'vitest/config';

// gl loads once a process and a GPU device belongs to one: forked processes, one file after another.
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/hosts/start.ts'],
    pool: 'forks',
    fileParallelism: false,
    testTimeout: 300_000,
    hookTimeout: 120_000,
  },
});
