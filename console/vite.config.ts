import { readFileSync, writeFileSync } from 'node:fs';
import { brotliCompressSync } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

const SERVER = process.env.EVERCHART_URL ?? 'http://127.0.0.1:8080';

export default defineConfig({
  root: import.meta.dirname,
  // Relative addresses: a proxy may put a prefix before everything (routes/system/console.ts).
  base: './',
  plugins: [react(), firstPageCompressed()],
  // One text of the ready policies: the page on access has them.
  define: { READY_POLICIES: JSON.stringify(readyPolicies()) },
  // The server puts a nonce of its own into each answer in place of this word (routes/system/console-files.ts).
  html: { cspNonce: 'EVERCHART_CSP_NONCE' },
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2023',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 700,
    reportCompressedSize: false,
  },
  // `npm run dev -w console`, beside a server on its usual port.
  server: {
    proxy: {
      // Written out: the short form changes `Host`, and the server takes writes from pages of its own origin only.
      '/rest': { target: SERVER },
      '/console/settings.json': SERVER,
    },
  },
});

/** The part of the page on access that has them. */
function readyPolicies(): string {
  const page = readFileSync(`${import.meta.dirname}/../docs/access.md`, 'utf8');
  const [, rest = ''] = page.split('\n## Ready policies\n');
  return rest.split('\n## ')[0] ?? '';
}

/** What index.html names beside it as `.br`, as small as it gets: everybody waits for it first (routes/system/console-files.ts). */
function firstPageCompressed() {
  const dist = `${import.meta.dirname}/dist/`;
  return {
    name: 'first-page-compressed',
    closeBundle() {
      const page = readFileSync(`${dist}index.html`, 'utf8');
      for (const [, name = ''] of page.matchAll(/(?:src|href)="\.\/([^"]+\.(?:js|css))"/g))
        writeFileSync(`${dist}${name}.br`, brotliCompressSync(readFileSync(`${dist}${name}`)));
    },
  };
}
