import { ROOT_TYPES, type RootType } from '../../openehr/rm/root-type.js';
import type { Alias } from '../semantics/scope-types.js';
import type { PathStep } from '../syntax/ast.js';
import { FIELD, type IndexField } from './document.js';
import { counted } from '../../openehr/base/work.js';

/** Classes whose paths a query index document repeats in fields. */
export type IndexedClass = 'EHR' | 'VERSION' | RootType;

/** Paths of a COMPOSITION and an EHR_STATUS. */
const VERSIONED_PATHS = {
  'uid/value': FIELD.versionUid,
  'archetype_details/template_id/value': FIELD.templateId,
} as const;

/**
 * Every path of RM objects that a field of the query index repeats, by class. A time is indexed both as the
 * DV_DATE_TIME and as its `value`; the field holds a date. `templateId` has no index of its own: it is found by
 * `templateKey` among the `keys`.
 */
const INDEXED_PATHS: Readonly<Record<IndexedClass, Readonly<Partial<Record<string, IndexField>>>>> = {
  EHR: { 'ehr_id/value': FIELD.ehrId },
  VERSION: {
    'uid/value': FIELD.versionUid,
    'contribution/id/value': FIELD.contributionUid,
    'commit_audit/time_committed': FIELD.timeCommitted,
    'commit_audit/time_committed/value': FIELD.timeCommitted,
    'commit_audit/change_type/defining_code/code_string': FIELD.changeType,
    'lifecycle_state/defining_code/code_string': FIELD.lifecycleState,
  },
  COMPOSITION: {
    ...VERSIONED_PATHS,
    'context/start_time': FIELD.startTime,
    'context/start_time/value': FIELD.startTime,
  },
  EHR_STATUS: VERSIONED_PATHS,
  FOLDER: {},
};

/** The field that repeats a path of a class, whatever predicates its steps have; null: none does. */
export function indexedField(owner: IndexedClass | null, steps: readonly PathStep[]): IndexField | null {
  if (owner === null) return null;
  return (
    INDEXED_PATHS[owner][
      counted(steps)
        .map(({ attribute }) => attribute)
        .join('/')
    ] ?? null
  );
}

/** Whose indexed paths those of an alias are; null: not all that it can be bound to is one such class. */
export function indexedClass({ kind, classes }: Pick<Alias, 'kind' | 'classes'>): IndexedClass | null {
  if (kind === 'ehr') return 'EHR';
  if (kind === 'version') return 'VERSION';
  return ROOT_TYPES.find((root) => counted(classes).every((each) => each === root)) ?? null;
}
