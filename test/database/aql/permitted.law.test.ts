import { expect, it } from '@jest/globals';
import { CdrError, type ErrorCode } from '../../../openehr/base/errors.js';
import { isJsonObject } from '../../../openehr/base/json.js';
import type { ReferenceData, ReferenceVersion } from '../../../aql/evaluate/data.js';
import { evaluateQuery } from '../../../aql/evaluate/evaluate.js';
import { ehrObject, versionObject } from '../../../policy/attributes.js';
import { all, any, holds, not, TRUE, type Permitted } from '../../../policy/condition.js';
import { isOn, placedCondition } from '../../../policy/marks.js';
import { attributeOf } from '../../../policy/object.js';
import { drawnBeside, storeBeside, type Beside } from '../../support/policy/random-beside.js';
import { randomMarks } from '../../support/policy/random-marks.js';
import { prepareCase } from '../../support/aql/cases/prepare.js';
import { differenceOf } from '../../support/aql/compare.js';
import { loadReferenceData } from '../../support/aql/load-reference.js';
import { pipelineRows } from '../../support/aql/pipeline.js';
import { randomCasesOverOneData, type RandomCase } from '../../support/aql/random.js';
import { RANDOM_SYSTEM_ID } from '../../support/aql/random-data.js';
import { useDatabase } from '../../support/database.js';
import { draws, seeds } from '../../support/laws.js';
import { SmartGrants } from '../../../policy/smart-grants.js';
import { randomScope } from '../../support/policy/smart-reading.js';
import { randomCondition } from '../../support/policy/random-condition.js';
import { Random } from '../../support/random.js';

useDatabase();

const SIZES = { small: 50, full: 50_000 };
const PAIRS = draws(SIZES);
const [SEED] = seeds(SIZES) as [number];
const PER_DATA = 25;
const TOO_MUCH: ReadonlySet<ErrorCode> = new Set(['timeout', 'query-too-large']);

/** Some EHRs have a subject of one of two name spaces. */
function withNamespaces(data: ReferenceData): ReferenceData {
  const ehrs = data.ehrs.map((ehr, index) =>
    index % 3 === 0 ? ehr : { ...ehr, namespace: `ns${index % 3}` },
  );
  return { ...data, ehrs };
}

function versionsOf(data: ReferenceData) {
  return data.versions.flatMap((version: ReferenceVersion) => {
    const { data: content, uid, ehrId, type, timeCommitted, commitAudit } = version;
    if (content === null) return [];
    const details = content['archetype_details'];
    const template =
      isJsonObject(details) && isJsonObject(details['template_id']) ? details['template_id'] : {};
    return [
      versionObject({
        ...{ uid, ehrId, type, timeCommitted, content, systemId: RANDOM_SYSTEM_ID, tags: {} },
        templateId: typeof template['value'] === 'string' ? template['value'] : undefined,
        lifecycleState: '532',
        committer: commitAudit['committer'],
      }),
    ];
  });
}

/** What a random policy permits: often most of it, so that there are rows. */
function randomPermitted(random: Random, data: ReferenceData): Permitted {
  const ehrs = data.ehrs.map(({ ehrId, namespace }) => ehrObject({ ehrId, namespace, tags: {} }));
  const versions = versionsOf(data);
  const ehr = random.chance(0.4) ? TRUE : randomCondition(random, 'Ehr', ehrs, 1);
  const drawn = () => randomCondition(random, 'Version', versions);
  const version = random.chance(0.1) ? TRUE : random.chance(0.5) ? any([drawn(), drawn()]) : drawn();
  return random.chance(0.4) ? withoutMarked(random, { ehr, version }, versions) : { ehr, version };
}

/** The same without what has one of some marks: named as queries name it, which is what says of one object that it has it. */
function withoutMarked(
  random: Random,
  { ehr, version }: Permitted,
  versions: ReturnType<typeof versionsOf>,
): Permitted {
  const marks = randomMarks(random, versions);
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

interface Compared {
  readonly fault: string | null;
  /** Whether the policies made a difference. */
  readonly isOther: boolean;
}

/** What a policy permits. */
interface Drawn {
  readonly permitted: Permitted;
  /** The same where queries ask each document for the tags and marks of its EHR, which are stored beside it. */
  readonly beside?: Beside;
}

const named =
  (drawn: (random: Random, data: ReferenceData) => Permitted) =>
  (random: Random, data: ReferenceData): Drawn => ({ permitted: drawn(random, data) });

/** What a random policy permits that asks for tags and marks too. */
function besidePermitted(random: Random, data: ReferenceData): Drawn {
  return drawnBeside(random, randomPermitted(random, data), versionsOf(data));
}

async function compared(
  random: RandomCase,
  data: ReferenceData,
  { permitted, beside }: Drawn,
): Promise<Compared> {
  await storeBeside(beside);
  const { ehrId, asOf, subsumption } = random;
  const options = ehrId === null ? {} : { ehrId };
  const aqlCase = { group: 86, title: '', aql: random.aql, options, expect: { count: 0 } };
  const { scope, page } = prepareCase(aqlCase, RANDOM_SYSTEM_ID);
  const rules = { systemId: RANDOM_SYSTEM_ID, asOf, subsumption, now: new Date(0) };
  const unguarded = evaluateQuery(scope, data, { ...rules, page, ehrId });
  const reference = evaluateQuery(scope, data, { ...rules, page, ehrId, permitted });
  const isOther = JSON.stringify(unguarded) !== JSON.stringify(reference);
  const told = `seed ${random.seed}, ehr_id ${String(ehrId)}, as_of ${asOf?.toISOString() ?? 'none'}\n  ${random.aql}\n  ${JSON.stringify(permitted)}\n  ${JSON.stringify(beside)}`;
  try {
    const difference = differenceOf(
      reference,
      page,
      // Data of older releases does not say who committed.
      await pipelineRows(scope, page, {
        ...{ ...rules, judged: permitted, hasCommitters: random.seed % 2 === 0 },
        permitted: beside?.permitted ?? permitted,
      }),
    );
    return { fault: difference === null ? null : `${told}\n${difference}`, isOther };
  } catch (error) {
    if (error instanceof CdrError && TOO_MUCH.has(error.code)) return { fault: null, isOther: false };
    return { fault: `${told}\n${String(error)}`, isOther };
  }
}

/** What scopes permit that name the templates which there are, or some of them; mostly of one patient. */
function scopedPermitted(random: Random, data: ReferenceData): Permitted {
  const templates = versionsOf(data).flatMap(({ attributes: { template_id: id } }) =>
    typeof id === 'string' ? [id] : [],
  );
  const words = random.list(1, 3, () => {
    const scope = randomScope(random, templates).replace(/^(?:user|system)\//, (other) =>
      random.chance(0.7) ? 'patient/' : other,
    );
    return random.chance(0.7) ? scope.replace(/\.[a-z]*$/, '.s') : scope;
  });
  const subject = { sub: 'ada', roles: [], scopes: words, ehr: random.pick(data.ehrs).ehrId };
  const grants = SmartGrants.of(words) ?? SmartGrants.nothing;
  return grants.permitted({ subject, action: 'query' }, { kind: 'ad hoc' });
}

it.each([
  ['policies', named(randomPermitted), 0.2],
  ['tags and marks that too many have', besidePermitted, 0.2],
  ['scopes', named(scopedPermitted), 0.2],
] as const)(
  'a query under %s is answered as over what is permitted alone',
  async (_, permittedOf, othersAtLeast) => {
    const faults: string[] = [];
    let others = 0;
    for (let round = 0; round * PER_DATA < PAIRS; round++) {
      const cases = randomCasesOverOneData(SEED + round, 3, Math.min(PER_DATA, PAIRS - round * PER_DATA));
      const data = withNamespaces(cases[0]!.data);
      await loadReferenceData(data);
      for (const random of cases) {
        const permitted = permittedOf(new Random(random.seed ^ 0xacce55), data);
        const { fault, isOther } = await compared(random, data, permitted);
        if (fault !== null) faults.push(fault);
        if (isOther) others += 1;
      }
    }
    expect(faults.join('\n\n')).toBe('');
    expect(others).toBeGreaterThan(PAIRS * othersAtLeast);
  },
  60_000 + PAIRS * 400,
);
