import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import mongoose from 'mongoose';
import { CdrError } from '../../../openehr/base/errors.js';
import type { JsonObject } from '../../../openehr/base/json.js';
import { partyNamed } from '../../../change/commit/audit.js';
import type { ChangeType } from '../../../change/commit/codes.js';
import {
  createComposition,
  deleteComposition,
  updateComposition,
} from '../../../change/composition/composition.js';
import { readObject } from '../../../change/content/content.js';
import { changeContext, type ChangeContext } from '../../../change/commit/context.js';
import { createContribution } from '../../../change/contribution/contribution.js';
import { createDirectory, deleteDirectory, updateDirectory } from '../../../change/directory.js';
import { updateEhrStatus } from '../../../change/ehr-status.js';
import { putTags } from '../../../change/item-tag/item-tag.js';
import type { VersionMetadata } from '../../../change/commit/request.js';
import { requireObjectVersionId } from '../../../openehr/base/object-version-id.js';
import { liveDirectory, type VersionedObjectDoc } from '../../../models/versioned-object.js';
import { folder, MERGE_TEMPLATES } from '../merge-http.js';
import { aComposition } from '../resources.js';
import { testSettings } from '../settings.js';

/** One write to one of two EHRs. `pick` chooses among what there is. */
export interface Step {
  readonly side: 0 | 1;
  readonly kind:
    | 'create'
    | 'update'
    | 'delete'
    | 'contribution'
    | 'directory'
    | 'delete-directory'
    | 'tag'
    | 'version-tag'
    | 'status-tag'
    | 'status';
  readonly template: number;
  readonly pick: number;
}

const weighted = (kind: Step['kind'], weight: number) => ({ arbitrary: fc.constant(kind), weight });

/** Random writes to two EHRs. */
export function steps(maxLength: number): fc.Arbitrary<Step[]> {
  const step = fc.record({
    side: fc.constantFrom(0 as const, 1 as const),
    kind: fc.oneof(
      weighted('create', 6),
      weighted('update', 4),
      weighted('delete', 2),
      weighted('contribution', 2),
      weighted('directory', 2),
      weighted('delete-directory', 1),
      weighted('tag', 2),
      weighted('version-tag', 1),
      weighted('status-tag', 1),
      weighted('status', 1),
    ),
    template: fc.nat({ max: MERGE_TEMPLATES.length - 1 }),
    pick: fc.nat({ max: 1000 }),
  });
  return fc.array(step, { maxLength });
}

const context: ChangeContext = changeContext(testSettings());

function metadata(changeType: ChangeType): VersionMetadata {
  const audit = { changeType, committer: partyNamed('random') };
  return { audit, lifecycleState: changeType === '523' ? '523' : '532' };
}

/** A composition of one of the templates that differs from all others. */
function content(template: number): JsonObject {
  const composition = aComposition(MERGE_TEMPLATES[template % MERGE_TEMPLATES.length]);
  return { ...composition, composer: { _type: 'PARTY_IDENTIFIED', name: randomUUID() } };
}

async function containers(ehrId: string, filter: object): Promise<VersionedObjectDoc[]> {
  return mongoose.connection
    .collection<VersionedObjectDoc>('versioned_objects')
    .find({ ehr_id: ehrId, ...filter } as object)
    .sort({ time_created: 1, _id: 1 })
    .toArray();
}

/** Writes; gives the version uids that were acknowledged. A write that finds nothing to change does nothing. */
export async function runStep(ehrIds: readonly [string, string], step: Step): Promise<string[]> {
  const ehrId = ehrIds[step.side];
  switch (step.kind) {
    case 'create': {
      const made = await createComposition(context, { ehrId, metadata: metadata('249') }, () =>
        Promise.resolve(readObject(content(step.template), 'COMPOSITION')),
      );
      return [made._id];
    }
    case 'update':
    case 'delete':
    case 'contribution':
      return changeComposition(ehrId, step);
    case 'directory':
      return writeDirectory(ehrId, step);
    case 'delete-directory': {
      const live = await liveDirectory(ehrId);
      if (live === null) return [];
      const change = { ehrId, ifMatch: live.latest_version_uid, metadata: metadata('523') };
      return [(await deleteDirectory(context, change))._id];
    }
    case 'status': {
      const status = {
        _type: 'EHR_STATUS',
        archetype_node_id: 'openEHR-EHR-EHR_STATUS.generic.v1',
        subject: { _type: 'PARTY_SELF' },
        is_modifiable: true,
      };
      const change = { ehrId, ifMatch: null, metadata: metadata('251') };
      const made = await updateEhrStatus(context, change, { ...status, is_queryable: step.pick % 4 !== 0 });
      return [made._id];
    }
    default:
      await tag(ehrId, step);
      return [];
  }
}

async function changeComposition(ehrId: string, step: Step): Promise<string[]> {
  const live = await containers(ehrId, { type: 'COMPOSITION', deleted: false });
  const container = live[step.pick % Math.max(1, live.length)];
  if (container === undefined) return [];
  const template = MERGE_TEMPLATES.findIndex((name) => name === container.template_id);
  const uid = container.latest_version_uid;
  if (step.kind === 'delete') {
    const named = { versionId: requireObjectVersionId(uid), versionUid: uid };
    return [(await deleteComposition(context, { ehrId, metadata: metadata('523'), ...named }))._id];
  }
  if (step.kind === 'update') {
    const change = { ehrId, versionedObjectUid: container._id, ifMatch: uid, metadata: metadata('251') };
    return [
      (
        await updateComposition(context, change, () =>
          Promise.resolve(readObject(content(template), 'COMPOSITION')),
        )
      )._id,
    ];
  }
  const versions = [
    { data: content(step.template), commit_audit: { change_type: { value: 'creation' } } },
    {
      data: content(template),
      commit_audit: { change_type: { value: 'modification' } },
      preceding_version_uid: { value: uid },
    },
  ];
  const defaults = { committer: partyNamed('random'), changeType: undefined, description: undefined };
  const done = await createContribution(context, { ehrId, defaults } as never, { versions });
  return done.versions.map(({ versionUid }) => versionUid);
}

async function writeDirectory(ehrId: string, step: Step): Promise<string[]> {
  const all = await containers(ehrId, { type: 'COMPOSITION' });
  const ids = all.filter((_, index) => (index + step.pick) % 2 === 0).map(({ _id }) => _id);
  const root = folder('root', ids, [folder(`inner ${step.pick}`, ids.slice(0, 1))]);
  const live = await liveDirectory(ehrId);
  if (live === null)
    return [(await createDirectory(context, { ehrId, metadata: metadata('249') }, root))._id];
  const change = { ehrId, ifMatch: live.latest_version_uid, metadata: metadata('251') };
  return [(await updateDirectory(context, change, root))._id];
}

async function tag(ehrId: string, step: Step): Promise<void> {
  const type = step.kind === 'status-tag' ? 'EHR_STATUS' : 'COMPOSITION';
  const all = await containers(ehrId, { type });
  const container = all[step.pick % Math.max(1, all.length)];
  if (container === undefined) return;
  const version = step.kind === 'version-tag' ? requireObjectVersionId(container.latest_version_uid) : null;
  const entry = { id: null, key: `key${step.pick % 3}`, value: 'v', targetPath: null };
  try {
    await putTags({ ehrId, type, versionedObjectUid: container._id, version }, [entry]);
  } catch (error) {
    // The key is taken.
    if (!(error instanceof CdrError) || error.code !== 'conflict') throw error;
  }
}
