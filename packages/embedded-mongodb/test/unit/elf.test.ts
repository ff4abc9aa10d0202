import { describe, expect, it } from '@jest/globals';
import { isNewer, parseGlibcVersion, relinkFor, versionNeeds } from '../../src/engine/elf.js';

interface Need {
  readonly file: string;
  readonly versions: readonly { readonly name: string; readonly index: number }[];
}
interface UndefinedSymbol {
  readonly name: string;
  /** Index of the version it needs. */
  readonly version: number;
}

/** A shared object that holds nothing but undefined symbols and the versions they need. */
function sharedObject(symbols: readonly UndefinedSymbol[], needs: readonly Need[], machine = 62): Buffer {
  const strings = new Strings();
  const symbolTable = Buffer.alloc(24 * (symbols.length + 1));
  const versions = Buffer.alloc(2 * (symbols.length + 1));
  symbols.forEach(({ name, version }, index) => {
    symbolTable.writeUInt32LE(strings.add(name), 24 * (index + 1));
    versions.writeUInt16LE(version, 2 * (index + 1));
  });
  const needTable = Buffer.concat(
    needs.map((need, index) => needRecord(need, strings, index + 1 < needs.length)),
  );
  const parts = [
    { type: 3, link: 0, info: 0, content: strings.content() },
    { type: 11, link: 1, info: 0, content: symbolTable },
    { type: 0x6fffffff, link: 2, info: 0, content: versions },
    { type: 0x6ffffffe, link: 1, info: needs.length, content: needTable },
  ];
  const header = Buffer.alloc(64);
  header.writeUInt32BE(0x7f454c46, 0);
  header[4] = 2;
  header[5] = 1;
  header.writeUInt16LE(machine, 18);
  header.writeUInt16LE(64, 0x3a);
  header.writeUInt16LE(parts.length + 1, 0x3c);
  let offset = 64;
  const sections = [Buffer.alloc(64)];
  for (const { type, link, info, content } of parts) {
    const section = Buffer.alloc(64);
    section.writeUInt32LE(type, 4);
    section.writeBigUInt64LE(BigInt(offset), 24);
    section.writeBigUInt64LE(BigInt(content.length), 32);
    section.writeUInt32LE(link, 40);
    section.writeUInt32LE(info, 44);
    sections.push(section);
    offset += content.length;
  }
  header.writeBigUInt64LE(BigInt(offset), 0x28);
  return Buffer.concat([header, ...parts.map((part) => part.content), ...sections]);
}

class Strings {
  #text = '\0';
  add(name: string): number {
    const at = this.#text.length;
    this.#text += `${name}\0`;
    return at;
  }
  content(): Buffer {
    return Buffer.from(this.#text, 'latin1');
  }
}

function needRecord({ file, versions }: Need, strings: Strings, hasNext: boolean): Buffer {
  const record = Buffer.alloc(16 * (versions.length + 1));
  record.writeUInt16LE(1, 0);
  record.writeUInt16LE(versions.length, 2);
  record.writeUInt32LE(strings.add(file), 4);
  record.writeUInt32LE(16, 8);
  record.writeUInt32LE(hasNext ? record.length : 0, 12);
  versions.forEach(({ name, index }, number) => {
    const at = 16 * (number + 1);
    record.writeUInt16LE(index, at + 6);
    record.writeUInt32LE(strings.add(name), at + 8);
    record.writeUInt32LE(number + 1 < versions.length ? 16 : 0, at + 12);
  });
  return record;
}

/** Names and version indexes of the symbols of an image made above. */
function symbolsOf(image: Buffer, count: number): { name: string; version: number }[] {
  const section = (number: number): number =>
    Number(image.readBigUInt64LE(Number(image.readBigUInt64LE(0x28)) + 64 * number + 24));
  const [strings, symbols, versions] = [section(1), section(2), section(3)];
  return Array.from({ length: count }, (_, index) => {
    const nameAt = strings + image.readUInt32LE(symbols + 24 * (index + 1));
    return {
      name: image.toString('latin1', nameAt, image.indexOf(0, nameAt)),
      version: image.readUInt16LE(versions + 2 * (index + 1)),
    };
  });
}

const LIBC: Need = {
  file: 'libc.so.6',
  versions: [
    { name: 'GLIBC_2.2.5', index: 2 },
    { name: 'GLIBC_2.7', index: 3 },
    { name: 'GLIBC_2.36', index: 4 },
    { name: 'GLIBC_2.38', index: 5 },
    { name: 'GLIBC_ABI_DT_RELR', index: 6 },
  ],
};
const LIBM: Need = { file: 'libm.so.6', versions: [{ name: 'GLIBC_2.38', index: 7 }] };
const SYMBOLS: readonly UndefinedSymbol[] = [
  { name: '__isoc23_strtol', version: 5 },
  { name: '__isoc23_sscanf', version: 5 },
  { name: 'arc4random', version: 4 },
  { name: 'malloc', version: 2 },
  { name: 'fmod', version: 7 },
];

describe('relinkFor', () => {
  it('binds newer symbols to their older equivalents and leaves the others', () => {
    const image = sharedObject(SYMBOLS, [LIBC, LIBM]);
    const relinked = relinkFor(image, [2, 36]);
    expect(relinked).toHaveLength(image.length);
    expect(symbolsOf(relinked, 5)).toEqual([
      { name: 'strtol', version: 2 },
      { name: '__isoc99_sscanf', version: 3 },
      { name: 'arc4random', version: 4 },
      { name: 'malloc', version: 2 },
      { name: 'fmod', version: 1 }, // libm has no older version in this file: none is asked
    ]);
  });

  it('marks the newer versions as weak, and only these', () => {
    const needs = versionNeeds(relinkFor(sharedObject(SYMBOLS, [LIBC, LIBM]), [2, 36]));
    expect(needs.map(({ file, version, weak }) => [file, version, weak])).toEqual([
      ['libc.so.6', 'GLIBC_2.2.5', false],
      ['libc.so.6', 'GLIBC_2.7', false],
      ['libc.so.6', 'GLIBC_2.36', false],
      ['libc.so.6', 'GLIBC_2.38', true],
      ['libc.so.6', 'GLIBC_ABI_DT_RELR', false],
      ['libm.so.6', 'GLIBC_2.38', true],
    ]);
  });

  it('leaves its argument alone and changes nothing the second time', () => {
    const image = sharedObject(SYMBOLS, [LIBC, LIBM]);
    const copy = Buffer.from(image);
    const once = relinkFor(image, [2, 36]);
    expect(image.equals(copy)).toBe(true);
    expect(relinkFor(once, [2, 36]).equals(once)).toBe(true);
  });

  it('changes nothing for a host that is new enough', () => {
    const image = sharedObject(SYMBOLS, [LIBC, LIBM]);
    expect(relinkFor(image, [2, 38]).equals(image)).toBe(true);
  });

  it('uses the base version of arm64', () => {
    const libc = { ...LIBC, versions: [{ name: 'GLIBC_2.17', index: 2 }, ...LIBC.versions.slice(3, 4)] };
    const image = sharedObject(SYMBOLS.slice(0, 2), [libc], 183);
    expect(symbolsOf(relinkFor(image, [2, 36]), 2).map(({ version }) => version)).toEqual([2, 2]);
  });

  it('refuses a symbol that has no older equivalent', () => {
    const image = sharedObject([{ name: 'strlcpy', version: 5 }], [LIBC]);
    expect(() => relinkFor(image, [2, 36])).toThrow('strlcpy');
    expect(() => relinkFor(sharedObject(SYMBOLS, [LIBC, LIBM]), [2, 35])).toThrow('arc4random');
  });

  it('refuses what is no ELF64 file of a known machine', () => {
    expect(() => relinkFor(Buffer.from('#!/bin/sh'), [2, 36])).toThrow('ELF64');
    expect(() => relinkFor(sharedObject([], [], 8), [2, 36])).toThrow('machine');
  });
});

describe('glibc versions', () => {
  it('compare as numbers', () => {
    expect(parseGlibcVersion('2.36')).toEqual([2, 36]);
    expect(parseGlibcVersion('2.2.5')).toEqual([2, 2]);
    expect(parseGlibcVersion('musl')).toBeNull();
    expect(isNewer([2, 38], [2, 4])).toBe(true);
    expect(isNewer([2, 36], [2, 36])).toBe(false);
  });
});
