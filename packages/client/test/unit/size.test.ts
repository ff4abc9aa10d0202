import { gzipSync } from 'node:zlib';
import { expect, it } from '@jest/globals';
import { build } from 'esbuild';

it('is small enough for a page: at most 12 KB compressed, with nothing of others in it', async () => {
  const { outputFiles, metafile } = await build({
    entryPoints: ['packages/client/src/main.ts'],
    absWorkingDir: process.cwd(),
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    write: false,
    metafile: true,
  });
  expect(gzipSync(outputFiles[0]!.contents).length).toBeLessThan(12 * 1024);
  expect(Object.keys(metafile.inputs).filter((path) => !path.startsWith('packages/client/src/'))).toEqual([]);
});
