import { setImmediate } from 'node:timers/promises';
import { CdrError } from '../../openehr/base/errors.js';
import type { JsonObject } from '../../openehr/base/json.js';
import { collapsedToken } from '../../openehr/base/text.js';
import { within, type Work } from '../../openehr/base/work.js';
import { objectAt, textAt } from '../../openehr/rm/access.js';
import { MAX_ACCEPTED_FINDINGS, type AcceptedFinding } from '../../openehr/rm/lenient.js';
import { validateRm } from '../../openehr/rm/invariants/validate.js';
import { readRm } from '../../openehr/rm/read.js';
import type { Settings } from '../../config/settings.js';
import { CHANGE_TYPE, changeTypeTerm, LIFECYCLE } from '../../change/commit/codes.js';
import { validateContent } from '../../change/content/content.js';
import type { ContributionDoc } from '../../models/contribution.js';
import { compiledTemplate, type CompileStored } from '../../models/definition/template.js';
import type { VersionDoc } from '../../models/version.js';
import { versionIn, type RestoredVersion } from '../interchange/version-in.js';
import type { ReadExtract, ReadObject } from './read.js';

/** What decides what of content is noted as broken, and what a request may use for that. */
export interface ExtractJudging {
  readonly settings: Pick<Settings, 'checkRmRules' | 'checkExtraNodes' | 'checkContainerCardinality'>;
  /** null: nobody counts. */
  readonly work: Work | null;
  /** Absent: in the main thread. */
  readonly compile?: CompileStored;
}

/** The VERSIONs of an object, as they are restored to an EHR. */
export interface RestoredObject extends Omit<ReadObject, 'versions'> {
  readonly versions: readonly RestoredVersion[];
}

/**
 * All objects of an EXTRACT as they are restored to an EHR. What content breaks of the rules here is noted with it, since it was
 * accepted elsewhere. @throws invalid for what is no VERSION; what the budget of the request says
 */
export async function restoredObjects(
  { objects }: ReadExtract,
  ehrId: string,
  judging: ExtractJudging,
): Promise<RestoredObject[]> {
  const restored: RestoredObject[] = [];
  for (const object of objects) {
    const versions: RestoredVersion[] = [];
    for (const given of object.versions) {
      // Judging thousands of versions in one go would keep every other request waiting.
      await setImmediate();
      versions.push(
        await restoredVersion(given, { object, ehrId, before: versions.at(-1) ?? null }, judging),
      );
    }
    restored.push({ ...object, versions });
  }
  return restored;
}

async function restoredVersion(
  given: JsonObject,
  {
    object,
    ehrId,
    before,
  }: { readonly object: ReadObject; readonly ehrId: string; readonly before: RestoredVersion | null },
  judging: ExtractJudging,
): Promise<RestoredVersion> {
  const version = withOwnUid(given);
  const data = objectAt(version._type === 'IMPORTED_VERSION' ? objectAt(version, 'item') : version, 'data');
  const named = textAt(data, 'archetype_details', 'template_id', 'value');
  const templateId =
    object.type !== 'COMPOSITION'
      ? undefined
      : named === undefined
        ? before?.doc.template_id
        : collapsedToken(named);
  const beside = {
    ...{ ehr_id: ehrId, type: object.type },
    ...(templateId !== undefined && { template_id: templateId }),
  };
  const read = within(judging.work, () => versionIn(version, beside));
  const findings = await findingsOf(read, judging);
  if (findings.length === 0) return read;
  return { ...read, doc: { ...read.doc, validation_findings: findings } };
}

/** Content may leave out the uid that its VERSION has. */
function withOwnUid(version: JsonObject): JsonObject {
  const item = version._type === 'IMPORTED_VERSION' ? objectAt(version, 'item') : undefined;
  if (item !== undefined) return { ...version, item: withOwnUid(item) };
  const data = objectAt(version, 'data');
  const { uid = null } = version;
  return data === undefined || data.uid !== undefined ? version : { ...version, data: { ...data, uid } };
}

async function findingsOf(
  { doc, content }: RestoredVersion,
  { settings, work, compile }: ExtractJudging,
): Promise<AcceptedFinding[]> {
  if (content === null) return [];
  const template = doc.template_id === undefined ? null : await compiledTemplate(doc.template_id, compile);
  const rules = { ...settings, lenient: mayLack(doc), acceptsFindings: false };
  const broken = within(work, () => {
    // A reader may keep parts of what it reads.
    const copy = structuredClone(content);
    if (doc.type !== 'COMPOSITION') {
      const { object, violations } = readRm(copy, doc.type as string);
      return object === null ? violations : validateRm(object);
    }
    const { object, violations } = readRm(copy, 'COMPOSITION');
    if (object === null || template === null) return violations;
    return validateContent(object, template, rules).violations;
  });
  return broken
    .slice(0, MAX_ACCEPTED_FINDINGS)
    .map(({ path, code, message }): AcceptedFinding => ({ path, code, message }));
}

function mayLack({ lifecycle_state: state }: VersionDoc): boolean {
  const code = textAt(state, 'defining_code', 'code_string');
  return code === LIFECYCLE.incomplete || code === LIFECYCLE.abandoned;
}

/**
 * The CONTRIBUTIONs of VERSIONs, which an EXTRACT names and does not have: each with the audit of its first VERSION, and with the
 * change type that all of its VERSIONs have.
 */
export function contributionsOf(ehrId: string, versions: readonly RestoredVersion[]): ContributionDoc[] {
  const made = new Map<string, VersionDoc[]>();
  for (const { doc } of versions) {
    const own = made.get(doc.contribution_uid);
    if (own === undefined) made.set(doc.contribution_uid, [doc]);
    else own.push(doc);
  }
  return [...made].map(([uid, docs]) => {
    const [first = docs[0]] = docs.toSorted(
      (one, other) => Number(one.time_committed) - Number(other.time_committed),
    );
    if (first === undefined) throw new TypeError('a CONTRIBUTION has a VERSION');
    const codes = new Set(docs.map(changeTypeOf));
    const audit = codes.size === 1 ? first.commit_audit : { ...first.commit_audit, change_type: MIXED };
    return {
      _id: uid,
      ehr_id: ehrId,
      time_committed: first.time_committed,
      audit,
      versions: docs.map(({ _id, type }) => ({ uid: _id, type })),
    };
  });
}

const MIXED = changeTypeTerm(CHANGE_TYPE.modification);

function changeTypeOf({ commit_audit: audit }: VersionDoc): string | undefined {
  return textAt(audit, 'change_type', 'defining_code', 'code_string');
}

/** When the EHR was created, by its EHR_STATUS. @throws invalid without one */
export function createdAt(objects: readonly RestoredObject[]): Date {
  const status = objects.find(({ type }) => type === 'EHR_STATUS');
  const time = status?.timeCreated ?? status?.versions[0]?.doc.time_committed;
  if (time === undefined)
    throw new CdrError('invalid', 'the EXTRACT has no EHR_STATUS, without which there is no EHR');
  return time;
}
