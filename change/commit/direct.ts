import { randomUUID } from 'node:crypto';
import type { VersionedObjectDoc } from '../../models/versioned-object.js';
import { commit } from './commit.js';
import { requireFollowing } from './preceding-state.js';
import type { ChangeContext } from './context.js';
import type { Commit, CommitRequest, VersionEntry, VersionMetadata } from './request.js';
import type { VersionDoc } from '../../models/version.js';

/** What a direct POST, PUT or DELETE says beside the object. */
export interface DirectChange {
  readonly ehrId: string;
  readonly metadata: VersionMetadata;
  /** Further writes of the same transaction for the version that is made. May run more than once. */
  readonly inSameTransaction?: ((versionUid: string) => Promise<void>) | undefined;
}

/** Commits one entry as a CONTRIBUTION of its own, as every direct POST, PUT and DELETE does. */
export async function commitEntry(
  context: ChangeContext,
  entry: VersionEntry,
  request: Pick<CommitRequest, 'ehrId' | 'isNewEhr' | 'idempotentResult'> &
    Pick<DirectChange, 'inSameTransaction'>,
  known: readonly VersionedObjectDoc[] = [],
): Promise<VersionDoc> {
  const { inSameTransaction, ...rest } = request;
  if (entry.kind === 'update')
    await requireFollowing(
      { ehrId: request.ehrId, type: entry.type, versionUid: entry.precedingVersionUid },
      entry,
    );
  const whole: CommitRequest = {
    idempotentResult: ({ versions }) => ({
      kind: versions[0]?.type ?? '',
      uids: { ehr_id: request.ehrId, version_uid: versions[0]?.versionUid ?? '' },
    }),
    ...rest,
    contributionUid: randomUUID(),
    audit: entry.audit,
    entries: [entry],
    ...(inSameTransaction !== undefined && {
      inSameTransaction: async ({ versions }) => {
        for (const { versionUid } of versions) await inSameTransaction(versionUid);
      },
    }),
  };
  return onlyVersion(await commit(context, whole, known));
}

function onlyVersion(done: Commit): VersionDoc {
  const doc = done.versions[0]?.doc;
  if (doc === undefined || doc === null) throw new TypeError('a direct change makes one version');
  return doc;
}
