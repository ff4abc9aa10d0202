import { expect } from '@jest/globals';
import type { ReferenceData, ReferenceVersion } from '../../../aql/evaluate/data.js';
import { evaluateQuery } from '../../../aql/evaluate/evaluate.js';
import { CdrError, type ErrorCode } from '../../../openehr/base/errors.js';
import { isJsonObject, type JsonObject } from '../../../openehr/base/json.js';
import { ehrObject, versionObject } from '../../../policy/attributes.js';
import { all, any, holds, not, TRUE, type Condition, type Permitted } from '../../../policy/condition.js';
import { isOn, placedCondition } from '../../../policy/marks.js';
import { attributeOf, type AccessObject } from '../../../policy/object.js';
import type { PreparedCase } from '../aql/cases/prepare.js';
import { differenceOf } from '../aql/compare.js';
import { pipelineRows } from '../aql/pipeline.js';
import { coded, identified } from '../hilltop/builders.js';
import type { Random } from '../random.js';
import { drawnBeside, randomTags, storeBeside, tagsOf, withTagsNamed, type Beside } from './random-beside.js';
import { categorized, drawnCategories } from './random-categories.js';
import { randomCondition } from './random-condition.js';
import { randomMarks } from './random-marks.js';

/** What a policy permits. */
export interface Drawn {
  readonly permitted: Permitted;
  /** The same where queries ask each document for the tags and marks of its EHR, which are stored beside it. */
  readonly beside?: Beside;
}

/** Objects as policies see them, and the tags of their EHRs. */
interface Seen {
  readonly ehrs: readonly AccessObject[];
  /** Deletions too, each as what was deleted: queries find none of them. */
  readonly versions: readonly AccessObject[];
  readonly tags: Beside['tags'];
}

/** Some EHRs have a subject of one of two name spaces; versions are in several states, and some were committed by somebody else. */
export function withDrawnFacts(random: Random, data: ReferenceData): ReferenceData {
  const ehrs = data.ehrs.map((ehr, index) =>
    index % 3 === 0 ? ehr : { ...ehr, namespace: `ns${index % 3}` },
  );
  const versions = data.versions.map((version) => {
    const state = version.data === null || random.chance(0.6) ? null : random.pick(['553', '800']);
    const commitAudit = random.chance(0.7)
      ? version.commitAudit
      : { ...version.commitAudit, committer: identified('Somebody else') };
    if (state === null) return { ...version, commitAudit };
    return { ...version, commitAudit, lifecycleState: coded(`state ${state}`, 'openehr', state) };
  });
  return { ehrs, versions };
}

/** What policies see of this data. `systemId`: of the server. */
function seenOf(random: Random, data: ReferenceData, systemId: string): Seen {
  const tags = randomTags(
    random,
    data.ehrs.map(({ ehrId }) => ehrId),
  );
  const byUid = new Map(data.versions.map((version) => [version.uid, version]));
  return {
    tags,
    ehrs: data.ehrs.map(({ ehrId, namespace }) => ehrObject({ ehrId, namespace, tags: tagsOf(ehrId, tags) })),
    versions: data.versions.map((version) => objectOf(version, byUid, { systemId, tags })),
  };
}

function objectOf(
  version: ReferenceVersion,
  byUid: ReadonlyMap<string, ReferenceVersion>,
  { systemId, tags }: { readonly systemId: string; readonly tags: Beside['tags'] },
): AccessObject {
  const { uid, ehrId, type, timeCommitted, commitAudit, lifecycleState } = version;
  const content = version.data ?? byUid.get(version.precedingVersionUid ?? '')?.data ?? {};
  return versionObject({
    ...{ uid, ehrId, type, timeCommitted, content, systemId },
    tags: tagsOf(ehrId, tags),
    templateId: templateOf(content),
    lifecycleState: codeOf(lifecycleState),
    committer: commitAudit['committer'],
  });
}

function templateOf({ archetype_details: details }: JsonObject): string | undefined {
  const template = isJsonObject(details) ? details['template_id'] : undefined;
  const id = isJsonObject(template) ? template['value'] : undefined;
  return typeof id === 'string' ? id : undefined;
}

function codeOf({ defining_code: code }: JsonObject): string {
  const text = isJsonObject(code) ? code['code_string'] : undefined;
  return typeof text === 'string' ? text : '';
}

/** The ids of the templates that there are. */
export function templatesOf(data: ReferenceData): string[] {
  return data.versions.flatMap(({ data: content }) => templateOf(content ?? {}) ?? []);
}

/** What a random policy permits: often most of it, so that there are rows. Tags are asked for as such. */
function randomPermitted(random: Random, { ehrs, versions }: Seen): Permitted {
  const ehr = random.chance(0.4) ? TRUE : randomCondition(random, 'Ehr', ehrs, 1);
  const drawn = () => randomCondition(random, 'Version', versions);
  const said = random.chance(0.1) ? TRUE : random.chance(0.5) ? any([drawn(), drawn()]) : drawn();
  const of = random.chance(0.3) ? categorized(random, versions) : null;
  const version = of === null ? said : random.pick([all([said, not(of)]), any([said, of])]);
  return random.chance(0.4) ? withoutMarked(random, { ehr, version }, versions) : { ehr, version };
}

/** The same without what has one of some marks: named as queries name it, which is what says of one object that it has it. */
function withoutMarked(
  random: Random,
  { ehr, version }: Permitted,
  versions: readonly AccessObject[],
): Permitted {
  const marks = randomMarks(random, versions, drawnCategories(random, versions));
  const marked = placedCondition(marks, 'Version');
  for (const each of versions) {
    const ehrId = String(attributeOf(each, 'ehr_id'));
    const has = marks.some((mark) =>
      mark.scope.objects === undefined ? mark.ehrIds.includes(ehrId) && isOn(mark, each) : isOn(mark, each),
    );
    expect({ marks, each, has: holds(marked, each) }).toEqual({ marks, each, has });
  }
  return {
    ehr: all([ehr, not(placedCondition(marks, 'Ehr'))]),
    version: all([version, not(marked)]),
  };
}

/** What a random policy permits, with the EHRs named whose tags it asks for: which says of each object what the tags say. */
export function namedPermitted(random: Random, data: ReferenceData, systemId: string): Drawn {
  const seen = seenOf(random, data, systemId);
  const asked = randomPermitted(random, seen);
  const ehrIds = data.ehrs.map(({ ehrId }) => ehrId);
  const named = (condition: Condition, objects: readonly AccessObject[]): Condition => {
    const then = withTagsNamed(condition, ehrIds, seen.tags);
    for (const each of objects)
      expect({ condition, each, is: holds(then, each) }).toEqual({
        ...{ condition, each },
        is: holds(condition, each),
      });
    return then;
  };
  return {
    permitted: { ehr: named(asked.ehr, seen.ehrs), version: named(asked.version, seen.versions) },
  };
}

/** What a random policy permits that asks for tags and marks, which are joined to each document. */
export function besidePermitted(random: Random, data: ReferenceData, systemId: string): Drawn {
  const seen = seenOf(random, data, systemId);
  return drawnBeside(random, randomPermitted(random, seen), seen);
}

/** What else decides how a query is answered. */
export interface QueryRules {
  readonly systemId: string;
  readonly ehrId: string | null;
  readonly asOf: Date | null;
  readonly subsumption: boolean;
  readonly now: Date;
  /** Whether documents say who committed: data of older releases does not. */
  readonly hasCommitters: boolean;
}

/** What came of a query under a policy. */
export interface Compared {
  readonly fault: string | null;
  /** Whether the policy made a difference. */
  readonly isOther: boolean;
}

const TOO_MUCH: ReadonlySet<ErrorCode> = new Set(['timeout', 'query-too-large']);

/** Asks the pipeline and the evaluator, of which the latter looks at each object by itself. */
export async function comparedUnder(
  { permitted, beside }: Drawn,
  data: ReferenceData,
  { scope, page }: PreparedCase,
  { hasCommitters, ehrId, ...rules }: QueryRules,
): Promise<Compared> {
  await storeBeside(beside);
  const unguarded = evaluateQuery(scope, data, { ...rules, page, ehrId });
  const reference = evaluateQuery(scope, data, { ...rules, page, ehrId, permitted });
  const isOther = JSON.stringify(unguarded) !== JSON.stringify(reference);
  const told = `ehr_id ${String(ehrId)}, as_of ${rules.asOf?.toISOString() ?? 'none'}\n  ${JSON.stringify(permitted)}\n  ${JSON.stringify(beside)}`;
  try {
    const rows = await pipelineRows(scope, page, {
      ...{ ...rules, judged: permitted, hasCommitters },
      permitted: beside?.permitted ?? permitted,
    });
    const difference = differenceOf(reference, page, rows);
    return { fault: difference === null ? null : `${told}\n${difference}`, isOther };
  } catch (error) {
    if (error instanceof CdrError && TOO_MUCH.has(error.code)) return { fault: null, isOther: false };
    return { fault: `${told}\n${String(error)}`, isOther };
  }
}
