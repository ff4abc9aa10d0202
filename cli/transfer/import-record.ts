import { CdrError } from '../../openehr/base/errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../openehr/base/json.js';
import { parseEhrId } from '../../openehr/base/object-version-id.js';
import { parseJson } from '../../openehr/format/canonical-json.js';
import type { SourceRecord } from './import-source.js';

/** What a record brings. */
export type ImportContent =
  | { readonly kind: 'composition'; readonly object: JsonObject; readonly lifecycleState: string | null }
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
}

const KINDS = ['composition', 'flat', 'contribution', 'ehr_status', 'directory'] as const;
const KIND_OF_TYPE: Readonly<Record<string, (typeof KINDS)[number]>> = {
  COMPOSITION: 'composition',
  CONTRIBUTION: 'contribution',
  EHR_STATUS: 'ehr_status',
  FOLDER: 'directory',
};
const MEMBERS: readonly string[] = [...KINDS, 'ehr_id', 'template_id', 'lifecycle_state'];

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
  if (kind === 'composition') return { kind, object, lifecycleState };
  if (kind !== 'flat') return { kind, object };
  const templateId = textOrNull(envelope, 'template_id') ?? defaults.templateId;
  if (templateId === null)
    throw new CdrError('invalid', 'FLAT needs a template: give template_id in the record or --template-id');
  return { kind, object, templateId, lifecycleState };
}

function textOrNull(envelope: JsonObject, name: string): string | null {
  const value: JsonValue = envelope[name] ?? null;
  if (value === null || typeof value === 'string') return value;
  throw new CdrError('invalid', `${name} must be a text`);
}
