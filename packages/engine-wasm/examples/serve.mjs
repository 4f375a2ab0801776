// node examples/serve.mjs [port]: bundles the page and serves it on 127.0.0.1, with the headers that let it have
// SharedArrayBuffer.
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { build } from 'esbuild';

const here = new URL('.', import.meta.url).pathname;
const bundled = await build({
  entryPoints: [`${here}page.mjs`],
  bundle: true,
  write: false,
  format: 'esm',
  target: 'es2022',
});
const files = {
  '/': ['text/html', await readFile(`${here}index.html`)],
  '/page.js': ['text/javascript', bundled.outputFiles[0].contents],
};

const server = createServer((request, response) => {
  const [type, body] = files[request.url] ?? [];
  response.writeHead(body ? 200 : 404, {
    'Content-Type': type ?? 'text/plain',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Embedder-Policy': 'require-corp',
  });
  response.end(body);
});
server.listen(Number(process.argv[2] ?? 8080), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${server.address().port}/`);
});
