import { randomUUID } from 'node:crypto';
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { jsonObjectOf } from '../../openehr/base/json.js';
import { textAt } from '../../openehr/rm/access.js';
import type { Settings } from '../../config/settings.js';
import { answerError } from './api-client.js';
import type { Target } from './target.js';

/** So much of a file tells what it is. */
const BEGINNING = 4_096;
const AS_JSON = /^\s*\{\s*"_type"\s*:\s*"EXTRACT"/;
const AS_XML = /^\s*(?:<\?xml[^>]*>\s*)?<(?:\w+:)?extract[\s>]/;

/** In what form a file is an EXTRACT of the reference model; null: it is none. */
export function extractForm(path: string): 'JSON' | 'XML' | null {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(BEGINNING);
    const text = bytes.toString('utf8', 0, readSync(file, bytes)).replace(/^\ufeff/, '');
    if (AS_JSON.test(text)) return 'JSON';
    return AS_XML.test(text) ? 'XML' : null;
  } finally {
    closeSync(file);
  }
}

/** What came of an EXTRACT. */
interface MadeEhr {
  readonly ehrId: string;
  readonly importId: string;
  readonly versions: number;
}

/**
 * Makes an EHR of an EXTRACT: through a server within its MAX_BODY_BYTES, or in the database of this process, as large as a text can be.
 * docs/spec/interchange.md#extract
 */
export async function importExtract(
  { client, settings }: Pick<Target, 'client' | 'settings'>,
  path: string,
  form: 'JSON' | 'XML',
): Promise<MadeEhr> {
  const text = readFileSync(path, 'utf8');
  if (settings !== null) return makeHere(settings, text, form);
  const type = form === 'XML' ? 'application/xml' : 'application/json';
  const { status, text: answer } = await client.send('POST', '/ehr/extract', { body: text, type });
  if (status !== 201) throw answerError(status, answer);
  const made = jsonObjectOf(answer);
  const { versions } = made;
  return {
    ehrId: textAt(made, 'ehr_id') ?? '',
    importId: textAt(made, 'import_id') ?? '',
    versions: typeof versions === 'number' ? versions : 0,
  };
}

async function makeHere(settings: Settings, text: string, form: 'JSON' | 'XML'): Promise<MadeEhr> {
  const [{ parseJson }, { bodyFromXml }, { readExtract }, { makeEhr }, drafts, { EXTRACT_CREATE }] =
    await Promise.all([
      import('../../openehr/format/canonical-json.js'),
      import('../../openehr/format/extract-xml.js'),
      import('../../maintenance/extract/read.js'),
      import('../../maintenance/extract/make.js'),
      import('../../change/commit/audit-draft.js'),
      import('../../models/cross-collection/audited-removals.js'),
    ]);
  const limits = { maxNodes: Infinity, maxBytes: Infinity };
  const extract = readExtract(
    form === 'XML' ? bodyFromXml(text, 'EXTRACT', limits) : parseJson(text, limits),
  );
  const { systemId, aql } = settings;
  const how = { settings, systemId, leafIndex: aql.leafIndex, work: null };
  const sender = { user: 'everchart', operation: EXTRACT_CREATE, request_id: randomUUID() };
  const { ehrId, batch, versions } = await drafts.withAuditDraft(
    new drafts.AuditDraft(() => sender, 201),
    () => makeEhr(extract, how),
  );
  return { ehrId, importId: batch, versions };
}
