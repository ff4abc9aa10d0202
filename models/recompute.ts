import type { JsonObject } from '../openehr/base/json.js';
import { isJsonObject } from '../openehr/base/json.js';
import { deriveAqlDocument } from '../aql/index/derive.js';
import type { AqlDocument, LeafIndex } from '../aql/index/document.js';
import type { VersionDoc } from './version.js';

/** What derived documents need beside the versions: the EHR's flag and which leaves to keep. */
export interface RecomputeInput {
  readonly isQueryable: boolean;
  readonly leafIndex: LeafIndex;
}

/** Derived documents with the shapes (`_id`s of `aql_shapes`) that must exist for them. */
export interface Recomputed {
  readonly documents: readonly AqlDocument[];
  readonly shapes: readonly string[];
}

/**
 * The `aql` documents that the versions of ONE container must have, from nothing but those versions. Pure.
 * `versions`: all of them, oldest first. Deletions have no document.
 */
export function recomputedDocuments(versions: readonly VersionDoc[], input: RecomputeInput): Recomputed {
  const documents: AqlDocument[] = [];
  const shapes = new Set<string>();
  for (const [index, version] of versions.entries()) {
    if (version.data === null) continue;
    const derived = deriveAqlDocument(
      {
        versionUid: version._id,
        ehrId: version.ehr_id,
        versionedObjectUid: version.object_id,
        version: version.version,
        type: version.type,
        timeCommitted: version.time_committed,
        contributionUid: version.contribution_uid,
        changeType: codeOf(version.commit_audit.change_type),
        lifecycleState: codeOf(version.lifecycle_state),
        isQueryable: input.isQueryable,
        leafIndex: input.leafIndex,
      },
      JSON.parse(version.data) as JsonObject,
    );
    const next = versions[index + 1];
    const superseded = next === undefined ? {} : { latest: false, to: next.time_committed };
    documents.push({ ...derived.document, ...superseded });
    for (const shape of derived.shapes) shapes.add(shape);
  }
  return { documents, shapes: [...shapes] };
}

/** The code of a stored DV_CODED_TEXT. */
function codeOf(term: unknown): string {
  const code =
    isJsonObject(term) && isJsonObject(term.defining_code) ? term.defining_code.code_string : undefined;
  return typeof code === 'string' ? code : '';
}
