import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { RowEvaluator } from '../../../../aql/evaluate/condition.js';
import { FromEvaluator, type Tuple } from '../../../../aql/evaluate/contains.js';
import type { ReferenceData } from '../../../../aql/evaluate/data.js';
import { choicesOf, rowsOf } from '../../../../aql/evaluate/rows.js';
import { ehrsAt } from '../../../../aql/evaluate/store.js';
import type { LeafIndex } from '../../../../aql/index/document.js';
import { indexConditions } from '../../../../aql/index/index-conditions.js';
import { whereConjuncts } from '../../../../aql/mongo/where/conjuncts.js';
import {
  documentsOf as documentsStepOf,
  rootClass,
  rootMatches,
} from '../../../../aql/mongo/document/document-scope.js';
import { documentsMatch } from '../../../../aql/mongo/document/documents-match.js';
import type { IndexCondition } from '../../../../aql/index/condition.js';
import type { Stage } from '../../../../aql/index/stage.js';
import type { FromClass, FromNode, Scope } from '../../../../aql/semantics/scope-types.js';
import { CdrError } from '../../../../openehr/base/errors.js';
import { prepareCase } from '../../../support/aql/cases/prepare.js';
import { folder } from '../../../support/hilltop/builders.js';
import { HILLTOP, OBJECT } from '../../../support/hilltop/hilltop.js';
import { randomCases } from '../../../support/aql/random.js';
import { indexedData, indexedQueries } from '../../../support/aql/index-condition-cases.js';
import { matches } from '../../../support/aql/index-match.js';
import { documentsOf } from '../../../support/aql/load-reference.js';

const SYSTEM_ID = 'local.cdr';

interface Request {
  readonly ehrId: string | null;
  readonly asOf: Date | null;
  readonly subsumption: boolean;
  readonly leafIndex: LeafIndex;
}

const PLAIN = { ehrId: null, asOf: null, subsumption: false } as const;

/** Null when the query is refused, as its types do not fit. */
function scopeOf(aql: string, ehrId: string | null): Scope | null {
  const options = ehrId === null ? {} : { ehrId };
  try {
    return prepareCase({ group: 0, title: '', aql, options, expect: { count: 0 } }, SYSTEM_ID).scope;
  } catch (error) {
    if (error instanceof CdrError) return null;
    throw error;
  }
}

/** What the pipeline of an EHR's first operand starts with, and that operand. */
interface FirstMatch {
  readonly operand: FromClass;
  readonly match: Stage;
  /** Those that follow from WHERE. */
  readonly conditions: readonly IndexCondition[];
}

function firstMatches(scope: Scope, request: Request): readonly FirstMatch[] {
  const { leafIndex, subsumption, asOf } = request;
  const context = { leafIndex, subsumption, systemId: SYSTEM_ID };
  return ehrsOf(scope.from).flatMap((ehr): FirstMatch[] => {
    const child = ehr.contains === null || ehr.contains.negated ? null : ehr.contains.child;
    const operand = child?.kind === 'and' ? child.operands.find(({ kind }) => kind === 'class') : child;
    if (operand?.kind !== 'class') return [];
    const root = rootClass(operand);
    const conditions = indexConditions(ehr, scope, whereConjuncts(scope), context);
    const visibility = { ehrId: ehr.alias.fixedEhrId, joined: false, asOf, systemId: SYSTEM_ID, subsumption };
    const fromRoot = root === null ? [] : rootMatches(root.alias, SYSTEM_ID);
    const step = documentsStepOf(operand, visibility, ehr.alias.index, fromRoot);
    if (step.kind !== 'documents' && step.kind !== 'match')
      throw new TypeError(`a ${step.kind} is no first match`);
    const match = step.kind === 'match' ? step.match : documentsMatch({ ...step, index: conditions });
    return [{ operand, conditions, match }];
  });
}

function ehrsOf(from: FromNode): readonly FromClass[] {
  return from.kind === 'class' ? [from] : from.operands.flatMap(ehrsOf);
}

/** What FROM binds wherever the evaluator finds WHERE true. */
function* trueTuples(scope: Scope, data: ReferenceData, request: Request): Generator<Tuple> {
  const { subsumption, ehrId, asOf } = request;
  const rules = { systemId: SYSTEM_ID, subsumption, ehrId };
  const evaluator = new RowEvaluator(scope, rules, { now: new Date(0), offsetMinutes: 0 });
  const { where } = scope.query;
  for (const tuple of new FromEvaluator(scope, ehrsAt(data, asOf), rules).tuples())
    for (const row of rowsOf(tuple, choicesOfAll(scope, tuple, rules)))
      if (where === null || evaluator.truth(where, row) === true) {
        yield tuple;
        break;
      }
}

/** Without any condition of WHERE. */
function choicesOfAll(
  scope: Scope,
  tuple: Tuple,
  rules: Parameters<typeof choicesOf>[3],
): ReturnType<typeof choicesOf>[] {
  return scope.aliases.map((alias) => choicesOf(scope, alias, tuple[alias.index] ?? null, rules));
}

type Documents = ReadonlyMap<unknown, Readonly<Record<string, unknown>>>;

function indexOf(data: ReferenceData, leafIndex: LeafIndex): Documents {
  const documents = documentsOf(data, leafIndex).get('aql') ?? [];
  return new Map(documents.map((each) => [each['_id'], each]));
}

/** Fails when the index misses a document of a row; gives the number of rows that a condition of WHERE found. */
function foundByIndex(aql: string, data: ReferenceData, documents: Documents, request: Request): number {
  const scope = scopeOf(aql, request.ehrId);
  if (scope === null) return 0;
  const firsts = firstMatches(scope, request);
  let found = 0;
  for (const tuple of trueTuples(scope, data, request))
    for (const { operand, match, conditions } of firsts) {
      const bound = tuple[operand.alias.index] ?? null;
      if (bound === null || bound.kind === 'ehr') continue;
      const document = documents.get(bound.version.uid) ?? {};
      if (!matches(document, match))
        throw new Error(`${aql}\nmisses ${bound.version.uid} by ${JSON.stringify(match)}`);
      if (conditions.length > 0) found++;
    }
  return found;
}

describe('index conditions', () => {
  it('find every document for which the evaluator finds WHERE true', () => {
    let found = 0;
    fc.assert(
      fc.property(
        fc.array(indexedQueries, { minLength: 40, maxLength: 40 }),
        indexedData,
        fc.constantFrom<LeafIndex>('all', 'all', 'all', 'numeric'),
        (queries, data, leafIndex) => {
          const documents = indexOf(data, leafIndex);
          for (const aql of queries) found += foundByIndex(aql, data, documents, { ...PLAIN, leafIndex });
        },
      ),
      { numRuns: 40, seed: 13 },
    );
    expect(found).toBeGreaterThan(200);
  });

  it('find every document of random queries over random EHRs', () => {
    fc.assert(
      fc.property(randomCases, ({ aql, data, ehrId, asOf, subsumption }) => {
        const request = { ehrId, asOf, subsumption, leafIndex: 'all' } as const;
        foundByIndex(aql, data, indexOf(data, 'all'), request);
      }),
      { numRuns: 150, seed: 13 },
    );
  });

  it('find a nested FOLDER by its own uid', () => {
    const inner = { ...folder('Inner', {}), uid: { _type: 'HIER_OBJECT_ID', value: OBJECT.C7 } };
    const versions = HILLTOP.versions.map((version) =>
      version.type === 'FOLDER' && version.data !== null
        ? { ...version, data: { ...version.data, folders: [inner] } }
        : version,
    );
    const data = { ...HILLTOP, versions };
    const aql = `SELECT 1 FROM EHR e CONTAINS FOLDER f[uid/value = '${OBJECT.C7}']`;
    const request = { ...PLAIN, leafIndex: 'all' } as const;
    const scope = scopeOf(aql, null);
    expect(scope === null ? [] : [...trueTuples(scope, data, request)]).toHaveLength(1);
    expect(() => foundByIndex(aql, data, indexOf(data, 'all'), request)).not.toThrow();
  });
});
