import {
  CdrError,
  type Cdr,
  type CompositionContent,
  type CompositionFormat,
  type EHR_STATUS,
  type Flat,
  type FOLDER,
  type HistoryEntry,
  type ListedEhr,
  type PlacedTag,
  type Subject,
  type VersionInfo,
  isVersionUid,
} from '@everchart/client';
import { readable, textAt } from './json.js';
import type { JsonObject } from './types.js';

/** How content is committed: FLAT needs its template; 553 is a draft. */
interface Commit {
  readonly template?: string;
  readonly lifecycle?: '532' | '553';
  /** Of an update in FLAT: what FLAT cannot say stays. */
  readonly keepsUnshown?: boolean;
  /** Of everything that is one act of the user. */
  readonly idempotencyKey?: string;
}

/** What an EHR_STATUS is to say; without id the patient is nobody yet. */
export interface StatusChange {
  readonly id: string;
  readonly namespace: string;
  readonly isQueryable: boolean;
  readonly isModifiable: boolean;
}

/** EHRs and what is in them. */
export interface RecordApi {
  ehr: (ehrId: string) => Promise<JsonObject>;
  /** By the whole of an EHR id, a subject id or an identifier, those that queries leave out too. */
  ehrsNamed: (identifier: string) => Promise<readonly ListedEhr[]>;
  createEhr: (subject: Subject | null) => Promise<string>;
  ehrStatus: (ehrId: string) => Promise<JsonObject>;
  /** @throws CdrError 412 when the version that was shown is not the latest any more */
  changeStatus: (ehrId: string, shownUid: string, change: StatusChange) => Promise<void>;
  /** null: deleted. */
  composition: (ehrId: string, uid: string) => Promise<JsonObject | null>;
  /** null: deleted. */
  compositionFlat: (ehrId: string, uid: string) => Promise<Flat | null>;
  compositionText: (ehrId: string, uid: string, format: CompositionFormat) => Promise<string>;
  /** The VERSION with its audit and lifecycle. */
  version: (ehrId: string, uid: string) => Promise<JsonObject>;
  /** Newest first. */
  revisions: (ehrId: string, containerUid: string) => Promise<HistoryEntry[]>;
  createComposition: (ehrId: string, content: CompositionContent, how?: Commit) => Promise<VersionInfo>;
  updateComposition: (
    ehrId: string,
    latestUid: string,
    content: CompositionContent,
    how?: Commit,
  ) => Promise<VersionInfo>;
  /** What an update with `keepsUnshown` would store; without uid. */
  previewComposition: (ehrId: string, uid: string, content: Flat, how: Commit) => Promise<JsonObject>;
  /** Makes what a version holds the newest again: a draft as a draft, which need not be valid. */
  restoreComposition: (ehrId: string, latestUid: string, content: JsonObject) => Promise<VersionInfo>;
  /** Marks as deleted; every version stays. */
  deleteComposition: (ehrId: string, latestUid: string) => Promise<void>;
  /** null: there is none. @throws CdrError 404 when there never was one */
  directory: (ehrId: string) => Promise<JsonObject | null>;
  /** Makes the directory, or a new version of it. */
  saveDirectory: (ehrId: string, root: JsonObject) => Promise<void>;
  tags: (ehrId: string) => Promise<PlacedTag[]>;
  contribution: (ehrId: string, uid: string) => Promise<JsonObject>;
}

/** The part of the API that reads and writes records. */
export function recordApi(cdr: Cdr): RecordApi {
  const compositions = (ehrId: string) => cdr.ehr(ehrId).compositions;
  return {
    ehr: async (ehrId) => asJson(await cdr.ehr(ehrId).get()),
    ehrsNamed: async (identifier) => (await cdr.ehr.search(identifier)).ehrs,
    createEhr: async (subject) => (await cdr.ehr.create(subject === null ? {} : { subject })).id,
    ehrStatus: async (ehrId) => asJson(await cdr.ehr(ehrId).status.get()),
    changeStatus: async (ehrId, shownUid, change) => {
      await cdr.ehr(ehrId).status.update((now) => {
        if (textAt(now, 'uid', 'value') !== shownUid) throw changedMeanwhile();
        return statusWith(now, change);
      });
    },
    composition: async (ehrId, uid) => {
      const stored = await compositions(ehrId).get(uid);
      return stored === undefined ? null : asJson(stored.content);
    },
    compositionFlat: async (ehrId, uid) =>
      (await compositions(ehrId).get(uid, { format: 'FLAT' }))?.content ?? null,
    compositionText: async (ehrId, uid, format) =>
      readable((await compositions(ehrId).get(uid, { format }))?.content ?? ''),
    version: async (ehrId, uid) => asJson(await compositions(ehrId).version(uid)),
    revisions: async (ehrId, container) => (await compositions(ehrId).history(container)).reverse(),
    createComposition: (ehrId, content, how = {}) => compositions(ehrId).commit(content, how),
    updateComposition: (ehrId, latestUid, content, how = {}) =>
      compositions(ehrId).update(latestUid, content, how),
    previewComposition: async (ehrId, uid, body, { template, lifecycle = '532' }) => {
      const path = `/rest/preview/${encodeURIComponent(ehrId)}/${encodeURIComponent(uid)}`;
      const headers = {
        'openEHR-TEMPLATE_ID': template,
        'openEHR-VERSION': `lifecycle_state.code_string="${lifecycle}"`,
      };
      const sent = { body, type: 'application/openehr.wt.flat+json', headers, accept: 'application/json' };
      return (await cdr.request<JsonObject>('POST', path, sent)).body;
    },
    restoreComposition: async (ehrId, latestUid, content) => {
      const version = asJson(await compositions(ehrId).version(textAt(content, 'uid', 'value')));
      const isDraft = textAt(version, 'lifecycle_state', 'defining_code', 'code_string') === '553';
      const restored: JsonObject = { ...content, uid: undefined };
      return compositions(ehrId).update(latestUid, restored, isDraft ? { lifecycle: '553' } : {});
    },
    deleteComposition: (ehrId, latestUid) => compositions(ehrId).delete(latestUid),
    directory: async (ehrId) => {
      const directory = await cdr.ehr(ehrId).directory.get();
      return directory === undefined ? null : asJson(directory.content);
    },
    saveDirectory: async (ehrId, root) => {
      const { directory } = cdr.ehr(ehrId);
      const uid = textAt(root, 'uid', 'value');
      const folder = root as unknown as FOLDER;
      await (isVersionUid(uid) ? directory.update(uid, folder) : directory.create(folder));
    },
    tags: (ehrId) => cdr.ehr(ehrId).tags.list(),
    contribution: async (ehrId, uid) => asJson(await cdr.ehr(ehrId).contributions.get(uid)),
  };
}

function changedMeanwhile(): CdrError {
  const message = 'somebody else changed the EHR_STATUS meanwhile: load the page anew';
  return new CdrError(message, { status: 412, code: 'precondition-failed' });
}

/** The status with the change; the rest of a subject that stays is kept. */
function statusWith(status: EHR_STATUS, change: StatusChange): EHR_STATUS {
  const { id, namespace, isQueryable, isModifiable } = change;
  const { external_ref: before, ...self } = status.subject;
  const externalRef = { _type: 'PARTY_REF' as const, type: 'PERSON', ...before, namespace };
  const value = { _type: 'GENERIC_ID' as const, scheme: 'id', ...before?.id, value: id };
  return {
    ...status,
    subject: id === '' ? self : { ...self, external_ref: { ...externalRef, id: value } },
    is_queryable: isQueryable,
    is_modifiable: isModifiable,
  };
}

/** An object of the reference model, for readers that take any shape. */
function asJson(content: object): JsonObject {
  return content as JsonObject;
}
