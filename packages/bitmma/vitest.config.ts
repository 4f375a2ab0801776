import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/python/setup.ts'],
    testTimeout: 60_000,
    pool: 'forks',
  },
});
