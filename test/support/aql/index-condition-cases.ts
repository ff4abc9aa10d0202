import fc from 'fast-check';
import type { ReferenceData, ReferenceVersion } from '../../../aql/evaluate/data.js';
import { formatUtc } from '../../../openehr/base/iso8601.js';
import type { JsonObject } from '../../../openehr/base/json.js';
import { MAX_LEAF_TEXT_BYTES } from '../../../aql/index/keys.js';
import {
  cluster,
  coded,
  composition,
  dateTime,
  element,
  entry,
  history,
  identified,
  pointEvent,
  quantity,
  section,
  text,
  tree,
  value,
} from '../hilltop/builders.js';
import { ARCHETYPES as A } from '../hilltop/compositions.js';

/** Values that data and queries share, so that random conditions are often true. */
const NUMBERS = [-1, 1, 90.5];
/** As long as a leaf can be, and too long for one, in letters of two bytes. */
const LONG = ['ö'.repeat(MAX_LEAF_TEXT_BYTES / 2), 'ö'.repeat(MAX_LEAF_TEXT_BYTES / 2 + 1)];
const TEXTS = ['Größe', 'P1D', '2021-01', ...LONG];
const CODES = ['A', 'at0005'];
const IDS = ['INS-1', 'A'];
const DURATIONS = ['P1D', 'PT24H'];
const DATES = ['2021-01', '2021-01-15'];
const CLOCK_TIMES = ['10:30:00', '10:30'];
const INSTANTS = ['2021-01-15T10:30:00Z', '2021-01-15T12:30:00+02:00', '2021-01-15', '2021-03', '2022'];
const TEMPLATES = ['hill.vitals.v1', 'hill.report.v1'];
const SYSTEM_ID = 'local.cdr';

const uuid = (letter: string, number: number): string =>
  `${letter.repeat(8)}-0000-4000-8000-${String(number).padStart(12, '0')}`;
const uidOf = (object: number, version: number): string => `${uuid('c', object)}::${SYSTEM_ID}::${version}`;
const UIDS = [uuid('c', 0), uuid('C', 1), uidOf(0, 1), uidOf(1, 2), `${uuid('c', 1)}::::1`];

const pick = fc.constantFrom;
const number = pick(...NUMBERS);

/** Every class of data value that has a typed leaf, and some that have none. */
const dataValue: fc.Arbitrary<JsonObject> = fc.oneof(
  number.map((magnitude) => quantity(magnitude, 'mm[Hg]')),
  number.map((magnitude) => value('DV_COUNT', { magnitude })),
  number.map((rank) => value('DV_ORDINAL', { value: rank, symbol: coded('grade', 'local', 'A') })),
  number.map((rank) => value('DV_SCALE', { value: rank, symbol: coded('grade', 'local', 'A') })),
  number.map((numerator) => value('DV_PROPORTION', { numerator, denominator: 2, type: 0 })),
  pick(...DURATIONS).map((duration) => value('DV_DURATION', { value: duration })),
  pick(...DATES).map((date) => value('DV_DATE', { value: date })),
  pick(...CLOCK_TIMES).map((time) => value('DV_TIME', { value: time })),
  pick(...INSTANTS).map(dateTime),
  fc.boolean().map((flag) => value('DV_BOOLEAN', { value: flag })),
  pick(...TEXTS).map((words) => text(words)),
  fc.tuple(pick(...TEXTS), pick(...CODES)).map(([words, code]) => coded(words, 'local', code)),
  pick(...IDS).map((id) => value('DV_IDENTIFIER', { id })),
  pick(...TEXTS).map((uri) => value('DV_URI', { value: uri })),
  pick(...TEXTS).map((parsable) => value('DV_PARSABLE', { value: parsable, formalism: 'text/plain' })),
  number.map((lower) => value('DV_INTERVAL', { lower: quantity(lower, 'mm[Hg]'), upper_unbounded: true })),
);

const elements = fc.array(
  dataValue.map((held) => element('at0004', 'Left', held)),
  { minLength: 1, maxLength: 4 },
);

/** Elements, some below a CLUSTER with an at-code or an archetype id. */
const items = fc
  .tuple(elements, fc.option(elements), fc.option(elements))
  .map(([own, inCluster, inDevice]) => [
    ...own,
    ...(inCluster === null ? [] : [cluster('at0009', 'Left', inCluster)]),
    ...(inDevice === null ? [] : [cluster(A.device, 'Left', inDevice)]),
  ]);

const observation = fc
  .array(
    fc
      .tuple(pick('at0006', 'at0006', 'at0007'), pick(...INSTANTS), items)
      .map(([code, time, held]) => pointEvent(code, time, held)),
    { minLength: 1, maxLength: 2 },
  )
  .map((events) =>
    entry('OBSERVATION', { nodeId: A.bloodPressure, name: 'Left' }, { data: history('2021-01-01', events) }),
  );

const evaluation = items.map((held) =>
  entry('EVALUATION', { nodeId: A.problem, name: 'Left' }, { data: tree('at0001', held) }),
);

const content = fc
  .tuple(
    observation,
    fc.oneof(
      observation,
      evaluation,
      observation.map((each) => section('Left', [each], A.vitals)),
    ),
  )
  .map((entries) => [...entries]);

const document = fc
  .record({
    templateId: pick(...TEMPLATES),
    startTime: pick(...INSTANTS),
    content,
    otherContext: fc.option(
      items.map((held) => tree('at0001', held)),
      { nil: undefined },
    ),
  })
  .map(({ otherContext, ...parts }) =>
    composition({
      ...{ archetypeId: A.encounter, name: 'Left', composer: 'Dr Wu', ...parts },
      ...(otherContext === undefined ? {} : { otherContext }),
    }),
  );

/** One EHR with two COMPOSITIONs, the second of which has two versions. */
export const indexedData: fc.Arbitrary<ReferenceData> = fc
  .tuple(document, document, document)
  .map((documents) => ({
    ehrs: [
      { ehrId: uuid('e', 1), systemId: SYSTEM_ID, timeCreated: new Date('2020-12-01Z'), isQueryable: true },
    ],
    versions: documents.map((data, index) => versionOf(data, index)),
  }));

function versionOf(data: JsonObject, index: number): ReferenceVersion {
  const [object, version] = index === 2 ? [1, 2] : [index, 1];
  const timeCommitted = new Date(`2021-0${index + 1}-15T10:30:00Z`);
  const uid = uidOf(object, version);
  return {
    uid,
    ehrId: uuid('e', 1),
    type: 'COMPOSITION',
    timeCommitted,
    commitAudit: value('AUDIT_DETAILS', {
      system_id: SYSTEM_ID,
      committer: identified('Dr Wu'),
      time_committed: dateTime(formatUtc(timeCommitted)),
      change_type: coded('creation', 'openehr', version === 1 ? '249' : '251'),
    }),
    lifecycleState: coded('complete', 'openehr', '532'),
    contributionUid: uuid('b', index),
    precedingVersionUid: version === 1 ? null : uidOf(object, 1),
    data: { ...data, uid: { _type: 'OBJECT_VERSION_ID', value: uid } },
  };
}

// ---------------------------------------------------------------- queries

const ENDINGS = ['value', 'value/value', 'value/magnitude', 'value/defining_code/code_string', 'value/id'];
const ITEMS = ['[at0004]', '[at0004]', '[at0009]/items[at0004]', `[${A.device}]/items[at0004]`];
const HELD = ITEMS.flatMap((item) => ENDINGS.map((ending) => `items${item}/${ending}`));
const TIMES = ['time', 'time/value', 'time', 'time/value'];
const EVENT = [...HELD.map((path) => `data[at0003]/${path}`), ...TIMES];
const OBSERVATION = EVENT.map((path) => `data[at0001]/events[at0006]/${path}`);
const COMPOSITION_PATHS = [
  'uid/value',
  'archetype_details/template_id/value',
  'context/start_time',
  'context/start_time/value',
  ...HELD.map((path) => `context/other_context[at0001]/${path}`),
  ...OBSERVATION.map((path) => `content[${A.bloodPressure}]/${path}`),
  ...OBSERVATION.map((path) => `content[${A.vitals}]/items[${A.bloodPressure}]/${path}`),
];
const VERSION_PATHS = [
  'uid/value',
  'commit_audit/time_committed',
  'commit_audit/time_committed/value',
  'commit_audit/change_type/defining_code/code_string',
];
const of = (variable: string, paths: readonly string[]): string[] =>
  paths.map((path) => `${variable}/${path}`);
const o = of('o', OBSERVATION);
const c = of('c', COMPOSITION_PATHS);
const v = of('v', VERSION_PATHS);
const OBSERVED = `OBSERVATION o[${A.bloodPressure}]`;

/** FROM with the paths that its variables offer. */
const FROMS: readonly (readonly [string, readonly string[], ...(readonly string[])[]])[] = [
  [`EHR e CONTAINS COMPOSITION c[${A.encounter}] CONTAINS ${OBSERVED}`, o, c],
  [`EHR e CONTAINS COMPOSITION c CONTAINS (${OBSERVED} AND OBSERVATION p[${A.bloodPressure}])`, o],
  [`EHR e CONTAINS ${OBSERVED}`, o],
  [`EHR e CONTAINS VERSION v[all_versions] CONTAINS COMPOSITION c CONTAINS ${OBSERVED}`, o, c, v],
  [`EHR e CONTAINS VERSION v CONTAINS COMPOSITION c[${A.encounter}]`, c, v],
  [`EHR e CONTAINS COMPOSITION c CONTAINS (${OBSERVED} OR EVALUATION p[${A.problem}])`, o, c],
  [`EHR e CONTAINS (COMPOSITION d AND COMPOSITION c CONTAINS ${OBSERVED})`, o, c],
  [`EHR e CONTAINS COMPOSITION c[${A.encounter}] CONTAINS CLUSTER k[${A.device}]`, c, of('k', HELD)],
];

const quoted = (values: readonly string[]): string[] => values.map((each) => `'${each}'`);
const ANY = [
  ...NUMBERS.map(String),
  ...quoted([...TEXTS, ...CODES, ...DURATIONS, ...DATES, ...CLOCK_TIMES, ...INSTANTS]),
  ...['true', 'false'],
];

/** Literals that can be equal to what a path ends in. */
function literalsOf(path: string): readonly string[] {
  if (path.endsWith('uid/value')) return quoted(UIDS);
  if (path.endsWith('template_id/value')) return quoted(TEMPLATES);
  if (/time(_committed)?(\/value)?$/.test(path)) return quoted(INSTANTS);
  if (path.endsWith('magnitude')) return NUMBERS.map(String);
  if (path.endsWith('code_string')) return quoted([...CODES, '249']);
  if (path.endsWith('value/id')) return quoted(IDS);
  return ANY;
}

function test(paths: readonly (readonly string[])[]): fc.Arbitrary<string> {
  return pick(...paths)
    .chain((some) => pick(...some))
    .chain((path) => {
      const literal = pick(...literalsOf(path));
      const operators = path.endsWith('uid/value') ? ['='] : ['=', '=', '<', '<=', '>', '>=', '!='];
      const comparison = fc
        .tuple(pick(...operators), literal)
        .map(([operator, operand]) => `${path} ${operator} ${operand}`);
      const list = fc
        .uniqueArray(literal, { minLength: 1, maxLength: 4 })
        .map((each) => `${path} MATCHES {${each.join(', ')}}`);
      return fc.oneof({ weight: 2, arbitrary: comparison }, { weight: 1, arbitrary: list });
    });
}

/** Bounds on the same leaf, of the same OBSERVATION or of two. */
function range(variables: readonly string[]): fc.Arbitrary<string> {
  const bound = fc.tuple(pick(...variables), pick('>', '<', '=', '>=', '<='), number);
  const magnitudes = OBSERVATION.filter((path) => path.endsWith('[at0004]/value/magnitude'));
  return fc
    .tuple(pick(...magnitudes), fc.array(bound, { minLength: 2, maxLength: 3 }))
    .map(([path, bounds]) =>
      bounds.map(([variable, operator, limit]) => `${variable}/${path} ${operator} ${limit}`).join(' AND '),
    );
}

/** Queries whose WHERE compares paths that the index has, and some that it has not. */
export const indexedQueries: fc.Arbitrary<string> = pick(...FROMS).chain(([from, ...paths]) => {
  const one = test(paths);
  const both = fc.tuple(one, one, pick('AND', 'OR')).map(([a, b, word]) => `(${a} ${word} ${b})`);
  const condition = fc.oneof(
    { weight: 3, arbitrary: one },
    { weight: 3, arbitrary: both },
    { weight: 1, arbitrary: one.map((each) => `NOT ${each}`) },
    { weight: 1, arbitrary: fc.tuple(both, both).map(([a, b]) => `${a} AND ${b}`) },
    { weight: 2, arbitrary: range(from.includes(' p[') && from.includes('AND') ? ['o', 'p'] : ['o']) },
  );
  return condition.map((where) => `SELECT 1 FROM ${from} WHERE ${where}`);
});
