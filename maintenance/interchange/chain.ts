import { CdrError } from '../../openehr/base/errors.js';
import type { JsonObject } from '../../openehr/base/json.js';
import { textAt } from '../../openehr/rm/access.js';
import { LIFECYCLE } from '../../change/commit/codes.js';
import type { VersionDoc } from '../../models/version.js';
import { headOf, type VersionedObjectDoc } from '../../models/versioned-object.js';
import type { RestoredVersion } from './version-in.js';

/** A container with what is restored behind what it has. */
export interface Chain {
  /** As it is stored; null: it is new. */
  readonly stored: VersionedObjectDoc | null;
  /** As it becomes. */
  head: VersionedObjectDoc;
  /** New versions, oldest first. */
  readonly versions: VersionDoc[];
  /** Content of the last one that has any; null: of none of the new ones. */
  content: JsonObject | null;
}

/** Chains of versions that are restored to an EHR: each version goes behind the one that it names. */
export class Chains {
  readonly #chains = new Map<string, Chain>();
  readonly #stored: ReadonlyMap<string, VersionedObjectDoc>;

  /** `stored`: containers that are there, by object id, whoever owns them. */
  constructor(stored: ReadonlyMap<string, VersionedObjectDoc>) {
    this.#stored = stored;
  }

  /** Those with new versions. */
  get changed(): Chain[] {
    return [...this.#chains.values()];
  }

  /**
   * Puts a version behind the latest of its container. @throws invalid when it contradicts itself, conflict when it does not
   * follow what is there
   */
  place({ doc, content }: RestoredVersion): void {
    requireSound(doc, content);
    const chain = this.#chains.get(doc.object_id);
    const before = chain?.head ?? this.#stored.get(doc.object_id) ?? null;
    const version = before?.has_item_tags === true ? { ...doc, has_item_tags: true as const } : doc;
    const head = before === null ? firstHead(version, content) : nextHead(before, version, content);
    if (chain === undefined) {
      const stored = before;
      this.#chains.set(doc.object_id, { stored, head, versions: [version], content });
      return;
    }
    chain.head = head;
    chain.versions.push(version);
    chain.content = content ?? chain.content;
  }
}

/** A version says of itself what `verify` asks of one. */
function requireSound(doc: VersionDoc, content: JsonObject | null): void {
  const state = textAt(doc.lifecycle_state, 'defining_code', 'code_string');
  if ((state === LIFECYCLE.deleted) !== (content === null))
    throw unsound(doc, 'data and lifecycle_state do not agree on whether it is a deletion');
  if (content !== null && (content._type !== doc.type || textAt(content, 'uid', 'value') !== doc._id))
    throw unsound(doc, 'its data has another uid or type');
  if (doc.type === 'COMPOSITION' && doc.template_id === undefined)
    throw unsound(doc, 'it has no template_id');
}

function firstHead(version: VersionDoc, content: JsonObject | null): VersionedObjectDoc {
  if (version.version !== 1 || version.preceding_version_uid !== undefined)
    throw conflict(version, 'the version before it is neither here nor before it in the file');
  return {
    _id: version.object_id,
    ehr_id: version.ehr_id,
    type: version.type,
    time_created: version.time_committed,
    ...headOf(version),
    ...compositionFields(version, content),
  };
}

function nextHead(
  before: VersionedObjectDoc,
  version: VersionDoc,
  content: JsonObject | null,
): VersionedObjectDoc {
  if (before.ehr_id !== version.ehr_id)
    throw conflict(version, `${before.type} ${before._id} is in EHR ${before.ehr_id} here`);
  if (before.type !== version.type) throw conflict(version, `${before._id} is a ${before.type} here`);
  const { latest_version: number, latest_version_uid: latest } = before;
  if (version.version !== number + 1 || version.preceding_version_uid !== latest)
    throw conflict(version, `it does not follow ${latest}, the latest version here`);
  if (version.time_committed <= before.latest_time_committed)
    throw conflict(version, 'it was not committed after the version before');
  if (version.type === 'EHR_STATUS' && version.data === null)
    throw unsound(version, 'an EHR_STATUS cannot be deleted');
  return { ...before, ...headOf(version), ...compositionFields(version, content) };
}

/** What a container repeats of its latest version with content. */
function compositionFields(
  { type, template_id: templateId }: VersionDoc,
  content: JsonObject | null,
): Pick<VersionedObjectDoc, 'template_id' | 'category'> {
  if (type !== 'COMPOSITION' || content === null || templateId === undefined) return {};
  const category = textAt(content, 'category', 'defining_code', 'code_string') ?? '';
  return { template_id: templateId, category };
}

function unsound({ _id }: VersionDoc, what: string): CdrError {
  return new CdrError('invalid', `VERSION ${_id} cannot be restored: ${what}`);
}

function conflict({ _id }: VersionDoc, what: string): CdrError {
  return new CdrError('conflict', `VERSION ${_id} cannot be restored: ${what}`);
}
