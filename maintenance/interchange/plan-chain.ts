import { CdrError } from '../../openehr/base/errors.js';
import type { LeafIndex } from '../../aql/index/document.js';
import { aqlInsert, recomputedDocuments, supersede, type Recomputed } from '../../models/aql-document.js';
import { versionInsert } from '../../models/version.js';
import { advanceHead, containerInsert } from '../../models/versioned-object.js';
import type { Write } from '../../models/access/write.js';
import type { Chain } from './chain.js';

/** What derived documents repeat of their EHR, and hold. */
interface Derivation {
  readonly isQueryable: boolean;
  readonly leafIndex: LeafIndex;
}

/** The writes of new versions, what goes on with them and what queries read of them, and the shapes that must exist before. */
export function chainWrites(
  chains: readonly Chain[],
  derivation: Derivation,
): { readonly writes: readonly Write[]; readonly shapes: readonly string[] } {
  const derived = chains.map((chain) => ({ chain, ...derivedFrom(chain, derivation) }));
  return {
    writes: [
      // A directory ends before another one may begin.
      ...chains.flatMap(advance),
      ...chains.flatMap(({ stored, head }) => (stored === null ? [containerInsert(head)] : [])),
      ...chains.flatMap(({ versions }) => versions.map(versionInsert)),
      ...chains.flatMap(close),
      ...derived.flatMap(({ documents }) => documents.map(aqlInsert)),
    ],
    shapes: derived.flatMap(({ shapes }) => shapes),
  };
}

function advance({ stored, head, versions }: Chain): Write[] {
  const last = versions.at(-1);
  if (stored === null || last === undefined) return [];
  const { template_id, category } = head;
  return [
    advanceHead(stored, last, {
      ...(template_id !== undefined && { template_id }),
      ...(category !== undefined && { category }),
    }),
  ];
}

/** The latest version so far has a successor; a deletion has no derived document. */
function close({ stored, versions }: Chain): Write[] {
  const [first] = versions;
  if (stored === null || stored.deleted || first === undefined) return [];
  return [supersede(stored.latest_version_uid, first.time_committed, { mayBeMissing: true })];
}

function derivedFrom({ head, versions }: Chain, derivation: Derivation): Recomputed {
  try {
    return recomputedDocuments(versions, derivation);
  } catch (cause) {
    if (cause instanceof CdrError && cause.details.budget !== undefined) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new CdrError(
      'invalid',
      `${head.type} ${head._id} cannot be restored: queries cannot read it: ${reason}`,
      {
        cause,
      },
    );
  }
}
