import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import * as zlib from 'node:zlib';
import { afterAll, describe, expect, it } from '@jest/globals';
import { compressor, decompression, type Compression } from '../../../cli/transfer/compression.js';

const place = mkdtempSync(join(tmpdir(), 'everchart-compression-'));
afterAll(() => rmSync(place, { recursive: true, force: true }));

const LINES = '{"kind":"header"}\n'.repeat(1_000);
/** Node.js 22.15 and later; `.ci/node-versions` runs this there too. */
const hasZstd = 'createZstdCompress' in zlib;

/** A file that was compressed so, and what was warned of. */
async function written(compression: Compression, from?: object): Promise<[file: string, warnings: string[]]> {
  const warnings: string[] = [];
  const through = compressor(compression, (words) => warnings.push(words), from);
  const file = join(place, 'lines');
  writeFileSync(file, await buffer(Readable.from([LINES]).pipe(through())));
  return [file, warnings];
}

/** What a file holds, however it is compressed. */
async function read(file: string, bytes: Buffer): Promise<string> {
  const through = decompression(file);
  return text(Readable.from([bytes]).pipe(through!()));
}

describe('compression of an export', () => {
  it.each<Compression>(['gzip', ...(hasZstd ? (['zstd'] as const) : [])])(
    'by %s is read again, known by its content',
    async (compression) => {
      const [file, warnings] = await written(compression);
      const bytes = readFileSync(file);
      expect([bytes.length < LINES.length / 10, warnings]).toEqual([true, []]);
      expect(await read(file, bytes)).toBe(LINES);
    },
  );

  it('by zstd is gzip where Node.js has none, and says so', async () => {
    const [file, warnings] = await written('zstd', {});
    expect(warnings).toEqual(['this Node.js has no zstd, which 22.15 and later have: compressed with gzip']);
    const bytes = readFileSync(file);
    expect([...bytes.subarray(0, 2)]).toEqual([0x1f, 0x8b]);
    expect(await read(file, bytes)).toBe(LINES);
  });

  it('by zstd cannot be read where Node.js has none', () => {
    const file = join(place, 'zstd');
    writeFileSync(file, Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0]));
    expect(() => decompression(file, {})).toThrow(
      `has no zstd, which 22.15 and later have: ${file} needs it`,
    );
    if (hasZstd) expect(decompression(file)).not.toBeNull();
    else expect(() => decompression(file)).toThrow('has no zstd');
  });

  it('is none of a file that begins otherwise', () => {
    const file = join(place, 'plain');
    writeFileSync(file, LINES);
    expect(decompression(file)).toBeNull();
  });
});
