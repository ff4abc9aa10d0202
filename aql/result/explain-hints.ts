import { counted } from '../../openehr/base/work.js';
import type { IndexContext } from '../index/index-conditions.js';
import { unindexedConditions, type Unindexed, type UnindexedReason } from '../index/unindexed.js';
import { topClasses } from '../semantics/from-walk.js';
import type { Probe, QueryPlan } from '../plan/query-plan.js';
import type { Scope } from '../semantics/scope-types.js';
import type { Condition } from '../syntax/ast.js';
import { conjunctsOf } from '../syntax/walk.js';
import { whereText, type ExplainedStage } from './explain.js';
import type { QueryWarning } from './warning.js';

/** What would make a query cheaper, or is good to know of how it runs (docs/spec/aql.md#explain). */
export interface Hint {
  readonly code: string;
  /** In plain words. */
  readonly message: string;
  /** What the words name. */
  readonly values: Readonly<Record<string, string | number>>;
}

/** The warning as explain says it. */
export function warningHint({ code, message, at, nearest, names }: QueryWarning): Hint {
  return {
    code,
    message: `line ${at.line}:${at.column}: ${message}`,
    values: { line: at.line, column: at.column, ...names, ...(nearest === null ? {} : { nearest }) },
  };
}

/** The hints of a query as it ran. */
export function hintsOf(
  scope: Scope,
  plan: QueryPlan,
  stages: readonly ExplainedStage[],
  index: IndexContext,
): Hint[] {
  const { examined, returned } = totalsOf(stages);
  const isPopulation = !counted(scope.aliases).some(({ fixedEhrId }) => fixedEhrId !== null);
  const hints: readonly (Hint | false)[] = [
    counted(stages).some(({ stage }) => stage.includes('COLLSCAN')) && plain('whole_read'),
    examined > Math.max(1000, returned * 20) && wasteHint({ examined, returned }, scope, index),
    isPopulation && scope.query.limit === null && returned > 10_000 && plain('all_rows'),
    plan.inProcess !== null && plain(`in_process_${plan.inProcess.kind}`),
    plan.probe !== null && probeHint(plan.probe),
    plan.readsLeaves && plain('reads_leaves'),
    counted(scope.aliases).some(({ versions }) => versions !== 'latest') && plain('superseded'),
  ];
  return counted(hints).filter((hint) => hint !== false);
}

function totalsOf(stages: readonly ExplainedStage[]): { examined: number; returned: number } {
  const [first] = stages;
  const last = stages[stages.length - 1];
  return { examined: first?.documentsExamined ?? 0, returned: last?.returned ?? first?.returned ?? 0 };
}

const PLAIN = {
  whole_read: 'a whole collection is read, as no index fits: name an archetype or an EHR in FROM',
  all_rows:
    'every EHR is searched and all rows are answered: page with fetch and offset, or stream as NDJSON',
  in_process_evaluate:
    'groups of objects that hold other archetypes are made by the server: the pipeline only finds the EHRs; select primitive values to avoid it',
  in_process_distinct:
    'DISTINCT over objects that hold other archetypes is decided by the server after the pipeline: select primitive values to avoid it',
  reads_leaves: 'WHERE picks the documents by the leaf index',
  superseded: 'superseded versions are searched as well',
} as const;

function plain(code: keyof typeof PLAIN): Hint {
  return { code, message: PLAIN[code], values: {} };
}

/** Much is read for few rows: by the first condition of WHERE that no index serves, and what would change that. */
function wasteHint(
  { examined, returned }: { readonly examined: number; readonly returned: number },
  scope: Scope,
  index: IndexContext,
): Hint {
  const conjuncts = counted(conjunctsOf(scope.query.where)).filter((each) => !namesEhr(each, scope));
  const unindexed = unindexedConditions(topClasses(scope.from), scope, conjuncts, index);
  const [first] = counted(unindexed).toSorted((a, b) => RANK.indexOf(a.reason) - RANK.indexOf(b.reason));
  const read = `reads ${examined} documents for ${returned} rows`;
  const counts = { examined, rows: returned };
  if (conjuncts.length === 0)
    return { code: 'waste_no_where', message: `${read}: ${NO_WHERE}`, values: counts };
  if (first === undefined) return { code: 'waste_wide', message: `${read}: ${WIDE}`, values: counts };
  const condition = whereText(scope.query, first.condition);
  return {
    code: `waste_${first.reason}`,
    message: `${read} because no index serves ${condition}: ${whyText(first)}`,
    values: { ...counts, condition, detail: first.detail },
  };
}

/** `e/ehr_id/value = …`, which FROM is read by. */
function namesEhr(condition: Condition, scope: Scope): boolean {
  if (condition.kind !== 'comparison' || condition.operator !== '=' || condition.left.kind !== 'path')
    return false;
  return scope.useOf(condition.left).type.identifier === 'ehr';
}

/** What is easiest to mend first. */
const RANK: readonly UnindexedReason[] = [
  'at_code',
  'archetype',
  'no_literal',
  'ending',
  'operator',
  'or',
  'no_path',
  'off',
];

const NO_WHERE =
  'it has no WHERE; a condition on a path whose nodes all have at-codes, compared with a literal, would use the index';
const WIDE =
  'all conditions use an index, and still let most documents through; name an EHR or a narrower range';

function whyText({ reason, detail }: Unindexed): string {
  const words: Readonly<Record<UnindexedReason, string>> = {
    at_code: `its path has no at-code at ${detail}; with one at each node this condition would use the index`,
    archetype: `FROM gives ${detail} no one archetype; with [openEHR-EHR-…] this condition could use the index`,
    no_literal: 'it compares with another path or a function; compared with a literal it would use the index',
    ending: `the index does not hold ${detail} as it is compared here; magnitude, value and code_string are held, texts for = alone`,
    operator: `${detail} picks no documents; =, <, > or MATCHES of a value would use the index`,
    or: 'one side of its OR uses none; when all sides do, this condition uses the index',
    no_path: 'it compares no path; a path compared with a literal would use the index',
    off: 'this database keeps no index of such values, or matches specialised archetypes (AQL_LEAF_INDEX, AQL_SUBSUMPTION)',
  };
  return words[reason];
}

function probeHint({ documents }: Probe): Hint {
  return {
    code: 'probe',
    message: `the first ${documents} documents of the leaf index show which others can be among the rows: the stages are those that read them`,
    values: { documents },
  };
}
