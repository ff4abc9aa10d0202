import { randomUUID } from 'node:crypto';
import { CdrError } from '../../openehr/base/errors.js';
import { ownVersionId, rootOfUid, type ObjectVersionId } from '../../openehr/base/object-version-id.js';
import type { JsonObject } from '../../openehr/base/json.js';
import { textAt } from '../../openehr/rm/access.js';
import type { PartialRm } from '../../openehr/rm/model/rm.js';
import { versionById, type VersionDoc } from '../../models/version.js';
import { containerOf, type VersionedObjectDoc } from '../../models/versioned-object.js';
import { templateIdOf } from '../content/content.js';
import type { ChangeContext } from '../commit/context.js';
import { commitEntry, type DirectChange } from '../commit/direct.js';
import { readableEhr, withEhrErrorFirst } from '../commit/ehr-access.js';
import { viewing } from '../access/viewer.js';
import { validateComposition } from './validate-composition.js';
import { LargeComposition } from '../content/large-composition.js';
import { latestOf, objectNotFound, staleVersion } from '../commit/refusal.js';
import type { CreateEntry, UpdateEntry, VersionMetadata } from '../commit/request.js';
import { requireSameTemplate } from '../definition/template-change.js';

/** Gives the COMPOSITION of a request as canonical JSON; called once the request itself is in order. */
export type CompositionReader = () => Promise<PartialRm<'COMPOSITION'> | LargeComposition>;

/**
 * Creates the first version of a COMPOSITION. ITS-REST: composition_create. @throws CdrError:
 * docs/spec/rest.md#composition
 */
export async function createComposition(
  context: ChangeContext,
  change: DirectChange,
  read: CompositionReader,
): Promise<VersionDoc> {
  const { ehrId, metadata, inSameTransaction } = change;
  return withEhrErrorFirst(ehrId, 'content', async () => {
    const entry = await newComposition(context, metadata, await read());
    return commitEntry(context, entry, { ehrId, inSameTransaction });
  });
}

/**
 * Creates the next version of a COMPOSITION. ITS-REST: composition_update. @throws CdrError:
 * docs/spec/rest.md#composition
 */
export async function updateComposition(
  context: ChangeContext,
  change: DirectChange & { readonly versionedObjectUid: string; readonly ifMatch: string },
  read: CompositionReader,
): Promise<VersionDoc> {
  const { ehrId, versionedObjectUid, metadata, ifMatch, inSameTransaction } = change;
  return withEhrErrorFirst(ehrId, 'content', async () => {
    const container = await requireComposition(ehrId, versionedObjectUid);
    const entry = await nextComposition(
      context,
      { container, metadata, precedingVersionUid: ifMatch, refused: container },
      await read(),
    );
    return commitEntry(context, entry, { ehrId, inSameTransaction }, [container]);
  });
}

/** What a change would store, as canonical JSON without a uid; nothing is stored. @throws as `updateComposition` */
export async function previewComposition(
  context: ChangeContext,
  change: {
    readonly ehrId: string;
    readonly versionedObjectUid: string;
    readonly precedingVersionUid: string;
    readonly metadata: VersionMetadata;
  },
  read: CompositionReader,
): Promise<string> {
  const { ehrId, versionedObjectUid, metadata, precedingVersionUid } = change;
  await readableEhr(ehrId);
  const container = await requireComposition(ehrId, versionedObjectUid);
  const preceding = { container, metadata, precedingVersionUid };
  const { object, prepared } = await nextComposition(context, preceding, await read());
  if (prepared !== undefined) return `{"_type":"COMPOSITION",${prepared.tail}`;
  return JSON.stringify({ ...object, uid: undefined });
}

/** Deletes a COMPOSITION logically. ITS-REST: composition_delete. @throws CdrError: docs/spec/rest.md#composition */
export async function deleteComposition(
  context: ChangeContext,
  change: DirectChange & { readonly versionId: ObjectVersionId; readonly versionUid: string },
): Promise<VersionDoc> {
  const { ehrId, metadata, versionId, versionUid } = change;
  return withEhrErrorFirst(ehrId, 'content', async () => {
    const container = await requireComposition(ehrId, versionId.versionedObjectUid);
    const isKnown =
      versionUid === container.latest_version_uid ||
      (await versionById(ehrId, 'COMPOSITION', versionUid)) !== null;
    if (!isKnown) throw objectNotFound(ehrId, 'COMPOSITION', versionUid);
    const target = { versionedObjectUid: versionId.versionedObjectUid, precedingVersionUid: versionUid };
    const entry = {
      kind: 'delete',
      type: 'COMPOSITION',
      ...target,
      staleCode: 'conflict',
      ...metadata,
    } as const;
    try {
      return await commitEntry(context, entry, { ehrId }, [container]);
    } catch (error) {
      throw container.deleted ? error : await lostRace(error, container);
    }
  });
}

/** Another deletion was faster than this one: 409 as for any other version that came between. */
async function lostRace(error: unknown, before: VersionedObjectDoc): Promise<unknown> {
  if (!(error instanceof CdrError) || error.code !== 'invalid') return error;
  const now = await containerOf(before.ehr_id, 'COMPOSITION', before._id);
  return now === null ? error : staleVersion('conflict', now);
}

async function requireComposition(ehrId: string, versionedObjectUid: string): Promise<VersionedObjectDoc> {
  const container = await containerOf(ehrId, 'COMPOSITION', versionedObjectUid);
  if (container === null || (await viewing.getStore()?.viewer?.seesLatest(container)) === false)
    throw objectNotFound(ehrId, 'COMPOSITION', versionedObjectUid);
  return container;
}

/** The validated entry of a first version. @throws invalid, unprocessable */
export async function newComposition(
  context: ChangeContext,
  metadata: VersionMetadata,
  content: PartialRm<'COMPOSITION'> | LargeComposition,
): Promise<CreateEntry> {
  const chosen = chosenVersionedObjectUid(
    context,
    content instanceof LargeComposition ? content.root : content,
  );
  const validated = await validateComposition(context, content, metadata);
  const id = { versionedObjectUid: chosen ?? randomUUID(), isChosenId: chosen !== null };
  return { kind: 'create', type: 'COMPOSITION', ...id, ...validated, ...metadata };
}

/** What the next version of a COMPOSITION follows. */
export interface PrecedingComposition {
  readonly container: Pick<VersionedObjectDoc, '_id' | 'template_id'>;
  readonly metadata: VersionMetadata;
  readonly precedingVersionUid: string;
  /** The container whose latest version a refusal names. */
  readonly refused?: VersionedObjectDoc;
}

/** The validated entry of a later version. @throws as `newComposition`, invalid on another template */
export async function nextComposition(
  context: ChangeContext,
  preceding: PrecedingComposition,
  content: PartialRm<'COMPOSITION'> | LargeComposition,
): Promise<UpdateEntry> {
  const { container, metadata, precedingVersionUid } = preceding;
  const object = content instanceof LargeComposition ? content.root : content;
  const templateId = templateIdOf(object);
  if (templateId !== '') requireSameTemplate(container.template_id, templateId);
  const validated = await validateComposition(context, content, metadata);
  requireSameObject(object, container._id, preceding.refused);
  const target = { versionedObjectUid: container._id, precedingVersionUid };
  return { kind: 'update', type: 'COMPOSITION', ...target, ...validated, ...metadata };
}

/** The object id a client chose for a new COMPOSITION; a uid that is not the server's to take is dropped. */
function chosenVersionedObjectUid(
  { settings: { systemId }, warn }: ChangeContext,
  object: PartialRm<'COMPOSITION'>,
): string | null {
  const { uid } = object;
  if (uid === undefined) return null;
  const id = ownVersionId(uid.value ?? '', systemId);
  if (id?.version === 1) return id.versionedObjectUid;
  warn?.({
    ...{ kind: 'uid', name: 'COMPOSITION' },
    text: `the uid ${uid.value ?? ''} of the new COMPOSITION is not <uuid>::${systemId}::1 and was ignored`,
  });
  delete object.uid;
  return null;
}

/** Names the uid of another object in content that says nothing about where it belongs; such a uid is ignored. */
export function warnOfForeignUid(
  { warn }: ChangeContext,
  content: JsonObject,
  versionedObjectUid: string,
): void {
  const text = textAt(content, 'uid', 'value');
  if (text === undefined || rootOfUid(text).toLowerCase() === versionedObjectUid) return;
  const name = textAt(content, '_type') ?? 'content';
  warn?.({ kind: 'uid', name, text: `the uid ${text} of the ${name} is of another object and was ignored` });
}

/** @throws precondition-failed, naming the latest version of `refused`, when the body's uid is of another object */
export function requireSameObject(
  { uid }: JsonObject,
  versionedObjectUid: string,
  refused: VersionedObjectDoc | null = null,
): void {
  if (uid === undefined) return;
  if (rootOfUid(textAt(uid, 'value') ?? '').toLowerCase() === versionedObjectUid) return;
  const latest = refused === null ? {} : latestOf(refused);
  throw new CdrError('precondition-failed', 'the uid of the content is of another object', latest);
}
