/**
 * Reading and editing the symbol versions of ELF64 shared objects (little endian): just enough to let a
 * library that was linked on a newer glibc load on a slightly older one. Sizes and offsets never change.
 */

/** A version of glibc, e.g. `[2, 36]`. */
export type GlibcVersion = readonly [major: number, minor: number];

/** One row of `.gnu.version_r`: this object needs `version` of library `file`. */
export interface VersionNeed {
  readonly file: string;
  readonly version: string;
  /** Number by which `.gnu.version` refers to it. */
  readonly index: number;
  /** Where the record starts in the image. */
  readonly position: number;
  readonly weak: boolean;
}

interface Section {
  readonly type: number;
  readonly offset: number;
  readonly size: number;
  readonly link: number;
  readonly info: number;
}

interface Tables {
  readonly machine: number;
  readonly symbols: Section;
  readonly strings: Section;
  readonly versions: Section;
  readonly needs: readonly VersionNeed[];
}

const SYMBOLS = 11;
const VERSIONS = 0x6fffffff;
const VERSION_NEEDS = 0x6ffffffe;
const SYMBOL_SIZE = 24;
const X86_64 = 62;
const AARCH64 = 183;
const WEAK = 2;
const NO_VERSION = 1;
const ISOC23 = '__isoc23_';

/** `2.36` → `[2, 36]`; null when the text is no version number. */
export function parseGlibcVersion(text: string): GlibcVersion | null {
  const match = /^(\d+)\.(\d+)(?:\.\d+)?$/.exec(text);
  return match === null ? null : [Number(match[1]), Number(match[2])];
}

/** Whether `a` is a later version than `b`. */
export function isNewer(a: GlibcVersion, b: GlibcVersion): boolean {
  return a[0] !== b[0] ? a[0] > b[0] : a[1] > b[1];
}

/** The versions of other libraries that `image` needs. @throws Error when it is no ELF64 shared object. */
export function versionNeeds(image: Buffer): readonly VersionNeed[] {
  return readTables(image).needs;
}

/**
 * A copy of `image` that loads on a host with glibc `host`: symbols of newer versions are bound to their
 * older equivalents. Running it on its own result changes nothing.
 *
 * @throws Error when a needed symbol has no older equivalent, or the file is no ELF64 shared object.
 */
export function relinkFor(image: Buffer, host: GlibcVersion): Buffer {
  const copy = Buffer.from(image);
  const tables = readTables(copy);
  for (const need of tables.needs) {
    if (!need.weak && isTooNew(need, host)) {
      rebind(copy, tables, need);
      copy.writeUInt16LE(copy.readUInt16LE(need.position + 4) | WEAK, need.position + 4);
    }
  }
  const left = versionNeeds(copy).filter((need) => !need.weak && isTooNew(need, host));
  if (left.length > 0) throw new Error(`needs ${left.map((need) => need.version).join(', ')}`);
  return copy;
}

function isTooNew(need: VersionNeed, host: GlibcVersion): boolean {
  const version = need.version.startsWith('GLIBC_') ? parseGlibcVersion(need.version.slice(6)) : null;
  return version !== null && isNewer(version, host);
}

/** Points every undefined symbol of version `need` to its older equivalent. */
function rebind(image: Buffer, tables: Tables, need: VersionNeed): void {
  const count = tables.symbols.size / SYMBOL_SIZE;
  for (let number = 0; number < count; number += 1) {
    const at = tables.symbols.offset + number * SYMBOL_SIZE;
    const versionAt = tables.versions.offset + number * 2;
    const isUndefined = image.readUInt16LE(at + 6) === 0;
    if (isUndefined && (image.readUInt16LE(versionAt) & 0x7fff) === need.index) {
      const version = olderVersion(image, at, tables);
      image.writeUInt16LE(indexOf(tables.needs, need.file, version), versionAt);
    }
  }
}

/** Renames the symbol at `at` where needed and answers the version it is then to be bound to. */
function olderVersion(image: Buffer, at: number, tables: Tables): string {
  const nameAt = image.readUInt32LE(at);
  const name = textAt(image, tables.strings.offset + nameAt);
  const base = tables.machine === AARCH64 ? 'GLIBC_2.17' : 'GLIBC_2.2.5';
  if (name === 'fmod') return base;
  if (name.startsWith(`${ISOC23}strto`)) {
    image.writeUInt32LE(nameAt + ISOC23.length, at);
    return base;
  }
  if (/^__isoc(23|99)_\w*scanf$/.test(name)) {
    image.write('__isoc99_', tables.strings.offset + nameAt, 'latin1');
    return tables.machine === AARCH64 ? base : 'GLIBC_2.7';
  }
  throw new Error(`needs the symbol ${name}, which has no older equivalent`);
}

function indexOf(needs: readonly VersionNeed[], file: string, version: string): number {
  return needs.find((need) => need.file === file && need.version === version)?.index ?? NO_VERSION;
}

function readTables(image: Buffer): Tables {
  const isElf64 = image.length >= 64 && image.readUInt32BE(0) === 0x7f454c46;
  if (!isElf64 || image[4] !== 2 || image[5] !== 1) throw new Error('is no little-endian ELF64 file');
  const machine = image.readUInt16LE(18);
  if (machine !== X86_64 && machine !== AARCH64) throw new Error(`has the unknown machine ${machine}`);
  const sections = readSections(image);
  const symbols = sectionOf(sections, SYMBOLS);
  const strings = sections[symbols.link];
  if (strings === undefined) throw new Error('has no dynamic strings');
  const needs = sections.find((section) => section.type === VERSION_NEEDS);
  return {
    machine,
    symbols,
    strings,
    versions: sectionOf(sections, VERSIONS),
    needs: needs === undefined ? [] : readNeeds(image, needs, sections),
  };
}

function readSections(image: Buffer): Section[] {
  const table = Number(image.readBigUInt64LE(0x28));
  const entrySize = image.readUInt16LE(0x3a);
  const count = image.readUInt16LE(0x3c);
  return Array.from({ length: count }, (_, number) => {
    const at = table + number * entrySize;
    return {
      type: image.readUInt32LE(at + 4),
      offset: Number(image.readBigUInt64LE(at + 24)),
      size: Number(image.readBigUInt64LE(at + 32)),
      link: image.readUInt32LE(at + 40),
      info: image.readUInt32LE(at + 44),
    };
  });
}

function sectionOf(sections: readonly Section[], type: number): Section {
  const section = sections.find((candidate) => candidate.type === type);
  if (section === undefined) throw new Error(`has no section of type ${type}`);
  return section;
}

function readNeeds(image: Buffer, section: Section, sections: readonly Section[]): VersionNeed[] {
  const strings = sections[section.link]?.offset ?? 0;
  const needs: VersionNeed[] = [];
  let fileAt = section.offset;
  for (let files = 0; files < section.info; files += 1) {
    const file = textAt(image, strings + image.readUInt32LE(fileAt + 4));
    const count = image.readUInt16LE(fileAt + 2);
    let position = fileAt + image.readUInt32LE(fileAt + 8);
    for (let number = 0; number < count; number += 1) {
      needs.push({
        file,
        version: textAt(image, strings + image.readUInt32LE(position + 8)),
        index: image.readUInt16LE(position + 6),
        position,
        weak: (image.readUInt16LE(position + 4) & WEAK) !== 0,
      });
      position += image.readUInt32LE(position + 12);
    }
    fileAt += image.readUInt32LE(fileAt + 12);
  }
  return needs;
}

function textAt(image: Buffer, at: number): string {
  return image.toString('latin1', at, image.indexOf(0, at));
}
