import { createReadStream, readdirSync, readFileSync, statSync, type Stats } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { pipeline, type Duplex, type Readable } from 'node:stream';
import { parseEhrId } from '../../openehr/base/object-version-id.js';
import { textOfUtf8 } from '../../openehr/base/utf8.js';
import { CdrError } from '../../openehr/base/errors.js';
import { isJsonObject, jsonOf, type JsonObject, type JsonValue } from '../../openehr/base/json.js';
import { parseJson } from '../../openehr/format/canonical-json.js';
import { decompression } from './compression.js';

/** One record as it stands in the source. */
export interface SourceRecord {
  /** Line number, or number of the file; from 1. */
  readonly position: number;
  /** The file below the imported folder; null: a line. */
  readonly file: string | null;
  /** null: it is not UTF-8. */
  readonly text: string | null;
  /** Bytes of a line with its end, 1 for a file. */
  readonly size: number;
  /** EHR named by the folder the file lies in. */
  readonly ehrId: string | null;
}

/** What is to be imported: NDJSON (a file, or `-` for stdin) or a folder of JSON files. */
export interface ImportSource {
  readonly isFolder: boolean;
  /** Whether it can be read again. */
  readonly isFile: boolean;
  /** Bytes of the file, or files of the folder; 0: not known. */
  readonly size: number;
  records(): AsyncIterable<SourceRecord>;
}

const LINES = { isFolder: false, isFile: false } as const;

/** Opens a source. @throws Error when there is nothing to read */
export function openSource(path: string): ImportSource {
  if (path === '-') return { ...LINES, size: 0, records: () => lines(process.stdin) };
  const state = statSync(path);
  if (!state.isDirectory()) return fileSource(path, state);
  const files = jsonFiles(path);
  return { isFolder: true, isFile: false, size: files.length, records: () => contents(path, files) };
}

/** Characters of a line that may be the first one of an export of all versions. docs/spec/interchange.md#lines */
const HEADER_LENGTH = 1_000;

/** Whether a source is an export of all versions, by its first line. Of what can be read only once nobody knows before. */
export async function isInterchangeSource(source: ImportSource): Promise<boolean> {
  if (!source.isFile) return false;
  for await (const { text } of source.records())
    return text !== null && text.length <= HEADER_LENGTH && isHeader(text);
  return false;
}

function isHeader(line: string): boolean {
  try {
    const value = jsonOf(line);
    return isJsonObject(value) && value.kind === 'header' && value.format === 'everchart-interchange';
  } catch {
    return false;
  }
}

/** Lines of a file that goes through others, one behind the other, such as what decrypts it; what one of them says fails is thrown. */
export function linesThrough(path: string, through: readonly (() => Duplex)[]): AsyncIterable<SourceRecord> {
  const [first, ...others] = through.map((make) => make());
  const file = createReadStream(path);
  if (first === undefined) return linesOf(file);
  const last = others.at(-1) ?? first;
  pipeline([file, first, ...others], () => undefined);
  return linesOf(last);
}

/** A file of lines, which may be compressed: then nobody knows how many bytes it has. */
function fileSource(path: string, state: Stats): ImportSource {
  const decompress = state.isFile() ? decompression(path) : null;
  const size = decompress === null ? state.size : 0;
  return {
    ...LINES,
    isFile: state.isFile(),
    size,
    records: () => linesThrough(path, decompress === null ? [] : [decompress]),
  };
}

async function* linesOf(input: Readable): AsyncGenerator<SourceRecord> {
  try {
    yield* lines(input);
  } finally {
    input.destroy();
  }
}

/** Lines are read as they are asked for: `node:readline` would hold a thousand, however large, for whoever is slower than the disk. */
async function* lines(input: AsyncIterable<Buffer>): AsyncGenerator<SourceRecord> {
  let position = 0;
  for await (const line of lineBytes(input)) {
    position += 1;
    const text = textOfUtf8(line);
    if (text?.trim() !== '') yield { position, file: null, text, size: line.length + 1, ehrId: null };
  }
}

const LINE_FEED = 0x0a;
const RETURN = 0x0d;

async function* lineBytes(input: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let begun: Buffer[] = [];
  for await (const bytes of input) {
    let start = 0;
    for (let end = bytes.indexOf(LINE_FEED); end >= 0; end = bytes.indexOf(LINE_FEED, start)) {
      yield withoutReturn(Buffer.concat([...begun, bytes.subarray(start, end)]));
      begun = [];
      start = end + 1;
    }
    if (start < bytes.length) begun.push(bytes.subarray(start));
  }
  if (begun.length > 0) yield withoutReturn(Buffer.concat(begun));
}

function withoutReturn(line: Buffer): Buffer {
  return line.at(-1) === RETURN ? line.subarray(0, -1) : line;
}

/** All `.json` files below a folder, in an order that is the same every time. */
function jsonFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return jsonFiles(path);
      return entry.isFile() && entry.name.endsWith('.json') ? [path] : [];
    });
}

async function* contents(folder: string, files: readonly string[]): AsyncGenerator<SourceRecord> {
  for (const [index, path] of files.entries()) {
    const ehrId = parseEhrId(basename(dirname(resolve(path))));
    await Promise.resolve();
    yield {
      position: index + 1,
      file: relative(folder, path),
      text: textOfUtf8(readFileSync(path)),
      size: 1,
      ehrId,
    };
  }
}

/** ATTESTATIONs of a VERSION: as its `commit_audit`, added to it, or both. */
export interface Signed {
  readonly commitAudit: JsonObject | null;
  readonly attestations: readonly JsonObject[];
}

/** What a record brings. */
export type ImportContent =
  | {
      readonly kind: 'composition';
      readonly object: JsonObject;
      readonly lifecycleState: string | null;
      readonly signed: Signed | null;
      /** Number or digest of the revision of its template by which it is judged; null: the newest. */
      readonly revision: string | null;
    }
  | {
      readonly kind: 'flat';
      readonly object: JsonObject;
      readonly templateId: string;
      readonly lifecycleState: string | null;
    }
  | { readonly kind: 'contribution' | 'ehr_status' | 'directory'; readonly object: JsonObject };

/** A record that could be read. */
export interface ImportRecord {
  readonly position: number;
  readonly ehrId: string;
  readonly content: ImportContent;
  /** Characters of its text. */
  readonly length: number;
}

/** What the command line says about records that do not say it themselves. */
export interface RecordDefaults {
  readonly ehrId: string | null;
  readonly templateId: string | null;
  /** true: whatever a record says, the newest revision of its template judges it. */
  readonly isNewest?: boolean;
}

const KINDS = ['composition', 'flat', 'contribution', 'ehr_status', 'directory'] as const;
const KIND_OF_TYPE: Readonly<Record<string, (typeof KINDS)[number]>> = {
  COMPOSITION: 'composition',
  CONTRIBUTION: 'contribution',
  EHR_STATUS: 'ehr_status',
  FOLDER: 'directory',
};
/** What stands beside a COMPOSITION. */
const BESIDE = ['commit_audit', 'attestations', 'template_revision'] as const;
const MEMBERS: readonly string[] = [...KINDS, ...BESIDE, 'ehr_id', 'template_id', 'lifecycle_state'];

/** Reads a record. @throws CdrError `invalid` naming what is missing or malformed */
export function readRecord(source: SourceRecord, defaults: RecordDefaults): ImportRecord {
  const { position, text } = source;
  if (text === null) throw new CdrError('invalid', 'the record is not UTF-8 text');
  const value = parseJson(text);
  if (!isJsonObject(value)) throw new CdrError('invalid', 'a record must be a JSON object');
  const envelope = isEnvelope(value) ? value : bareContent(value);
  const given = envelope.ehr_id ?? source.ehrId ?? defaults.ehrId;
  const ehrId = typeof given === 'string' ? parseEhrId(given) : null;
  if (ehrId === null)
    throw new CdrError(
      'invalid',
      given === null
        ? 'the EHR is not known: give ehr_id in the record, a folder name or --ehr'
        : `ehr_id ${JSON.stringify(given).slice(0, 80)} must be a UUID, an ISO OID or an internet id`,
    );
  return { position, ehrId, content: contentOf(envelope, defaults), length: text.length };
}

/** How a line of an export begins. */
const BEGINNING = /^\s*\{\s*"ehr_id"\s*:\s*"([^"\\]{1,300})"(?:\s*,\s*"(\w+)")?/;

/** Whose record it is, and of what kind, as far as the beginning of one that cannot be read tells. */
export function beginningOf({ text, ehrId }: SourceRecord): {
  readonly ehrId: string | null;
  readonly isStatus: boolean;
} {
  const [, given, kind] = BEGINNING.exec(text ?? '') ?? [];
  const named = given === undefined ? ehrId : parseEhrId(given);
  const isStatus =
    kind === undefined ? /^\s*\{\s*"_type"\s*:\s*"EHR_STATUS"/.test(text ?? '') : kind === 'ehr_status';
  return { ehrId: named, isStatus };
}

/** A line of an export; everything else is the content itself. */
function isEnvelope(value: JsonObject): boolean {
  return KINDS.some((kind) => isJsonObject(value[kind])) && !('_type' in value);
}

function bareContent(value: JsonObject): JsonObject {
  const { _type: type } = value;
  if (type === undefined) return Array.isArray(value.versions) ? { contribution: value } : { flat: value };
  const kind = typeof type === 'string' ? KIND_OF_TYPE[type] : undefined;
  if (kind === undefined)
    throw new CdrError('invalid', `a file must hold one of ${Object.keys(KIND_OF_TYPE).join(', ')} or FLAT`);
  return { [kind]: value };
}

function contentOf(envelope: JsonObject, defaults: RecordDefaults): ImportContent {
  const unknown = Object.keys(envelope).filter((name) => !MEMBERS.includes(name));
  if (unknown.length > 0) throw new CdrError('invalid', `unknown members: ${unknown.join(', ')}`);
  const kinds = KINDS.filter((kind) => envelope[kind] !== undefined);
  const [kind] = kinds;
  const object = kind === undefined ? undefined : envelope[kind];
  if (kind === undefined || kinds.length > 1 || !isJsonObject(object))
    throw new CdrError('invalid', `a record must have exactly one of ${KINDS.join(', ')}, an object`);
  const lifecycleState = textOrNull(envelope, 'lifecycle_state');
  const revision = defaults.isNewest === true ? null : textOrNull(envelope, 'template_revision');
  if (kind === 'composition') return { kind, object, lifecycleState, signed: signedIn(envelope), revision };
  const unsigned = BESIDE.find((name) => envelope[name] !== undefined);
  if (unsigned !== undefined)
    throw new CdrError('invalid', `${unsigned} stands beside a composition in canonical JSON only`);
  if (kind !== 'flat') return { kind, object };
  const templateId = textOrNull(envelope, 'template_id') ?? defaults.templateId;
  if (templateId === null)
    throw new CdrError('invalid', 'FLAT needs a template: give template_id in the record or --template-id');
  return { kind, object, templateId, lifecycleState };
}

function signedIn({ commit_audit: commitAudit = null, attestations = [] }: JsonObject): Signed | null {
  if (commitAudit !== null && !isJsonObject(commitAudit))
    throw new CdrError('invalid', 'commit_audit must be an object');
  if (!Array.isArray(attestations) || !attestations.every(isJsonObject))
    throw new CdrError('invalid', 'attestations must be a list of objects');
  return commitAudit === null && attestations.length === 0 ? null : { commitAudit, attestations };
}

function textOrNull(envelope: JsonObject, name: string): string | null {
  const value: JsonValue = envelope[name] ?? null;
  if (value === null || typeof value === 'string') return value;
  throw new CdrError('invalid', `${name} must be a text`);
}
