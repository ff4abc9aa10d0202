import { describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import type { ReferenceData } from '../../../aql/evaluate/data.js';
import { explainedStages } from '../../../aql/result/explain.js';
import type { JsonObject, JsonValue } from '../../../openehr/base/json.js';
import { explainPipeline, runPipelineRows } from '../../../models/cross-collection/run-pipeline.js';
import { COLLECTION_LAYOUT } from '../../../models/access/layout.js';
import { prepareCase } from '../../support/aql/cases/prepare.js';
import { version } from '../../support/aql/cases/row-data.js';
import { loadReferenceData } from '../../support/aql/load-reference.js';
import { planOf } from '../../support/aql/pipeline.js';
import { useOwnDatabase } from '../../support/database.js';
import {
  composition,
  ehrStatus,
  element,
  entry,
  history,
  pointEvent,
  quantity,
  text,
  value,
} from '../../support/hilltop/builders.js';
import { SYSTEM_ID } from '../../support/hilltop/hilltop.js';

/** What a query of one EHR looks at and hands on: the sum of its parts, never their product. Counted, not timed. */
useOwnDatabase();

const EHR = 'eeeeeeee-0000-4000-8000-000000000101';
const LIMITS = { timeoutMs: 60_000 };
const SECTION = 'openEHR-EHR-SECTION.s.v1';
const OBSERVATION = 'openEHR-EHR-OBSERVATION.o.v1';

function observation(elements: number): JsonObject {
  const items = Array.from({ length: elements }, (_, at) =>
    element('at0004', at === 0 ? 'wanted' : `other ${at}`, quantity(at, 'mm')),
  );
  const event = pointEvent('at0006', '2021-03-01T08:00:00Z', items);
  const data = history('2021-03-01T08:00:00Z', [event]);
  return entry('OBSERVATION', { nodeId: OBSERVATION, name: 'O' }, { data });
}

function section(entries: number): JsonObject {
  const items = Array.from({ length: entries }, () => observation(1));
  return value('SECTION', { name: text('S'), archetype_node_id: SECTION, items });
}

const uidOf = (at: number): string => `cccccccc-0000-4000-8000-${String(at).padStart(12, '0')}`;

/** One EHR with a status and so many COMPOSITIONs of the same content. */
function oneEhr(compositions: number, content: readonly JsonObject[]): ReferenceData {
  const object = composition({
    ...{ archetypeId: 'openEHR-EHR-COMPOSITION.report.v1', templateId: 't', name: 'R', composer: 'x' },
    startTime: '2021-03-01T08:00:00Z',
    content: [...content],
  });
  const status = ehrStatus({ isQueryable: true });
  return {
    ehrs: [{ ehrId: EHR, systemId: SYSTEM_ID, timeCreated: new Date('2021-03-01'), isQueryable: true }],
    versions: [
      version('aaaaaaaa-0000-4000-8000-000000000101', 'EHR_STATUS', status, 10),
      ...Array.from({ length: compositions }, (_, at) => version(uidOf(at), 'COMPOSITION', object, 11)),
    ],
  };
}

/** EHRs as that one, with ids of their own. */
function severalEhrs(ehrs: number, compositions: number): ReferenceData {
  const each = Array.from({ length: ehrs }, (_, at): ReferenceData => {
    const own = (id: string): string => id.replace('-0000-', `-000${at}-`);
    const one = oneEhr(compositions, [section(2)]);
    return {
      ehrs: one.ehrs.map((ehr) => ({ ...ehr, ehrId: own(ehr.ehrId) })),
      versions: one.versions.map((found) => {
        const uid = own(found.uid);
        const data = { ...found.data, uid: { _type: 'OBJECT_VERSION_ID', value: uid } };
        return { ...found, uid, ehrId: own(found.ehrId), data };
      }),
    };
  });
  return { ehrs: each.flatMap((one) => one.ehrs), versions: each.flatMap((one) => one.versions) };
}

interface Cost {
  readonly rows: number;
  /** Documents looked at, in joins too. */
  readonly examined: number;
  /** The most that one stage handed to the next. */
  readonly handedOn: number;
}

async function costOf(aql: string, data: ReferenceData): Promise<Cost> {
  for (const { name } of COLLECTION_LAYOUT) await mongoose.connection.collection(name).deleteMany({});
  await loadReferenceData(data);
  const { scope, page } = prepareCase({ group: 0, title: '', aql, expect: { count: 0 } }, SYSTEM_ID);
  const plan = await planOf(scope, page, { systemId: SYSTEM_ID });
  const rows = (await runPipelineRows(plan, LIMITS)).length;
  const explained = JSON.parse(JSON.stringify(await explainPipeline(plan, LIMITS))) as JsonValue;
  const stages = explainedStages(explained);
  const examined = stages.reduce((sum, stage) => sum + (stage.documentsExamined ?? 0), 0);
  return { rows, examined, handedOn: Math.max(...stages.map(({ returned }) => returned ?? 0)) };
}

describe('what is asked of an EHR beside what it contains', () => {
  it.each([
    "SELECT e/ehr_id/value FROM EHR e CONTAINS ELEMENT x WHERE e/ehr_status/name/value = 'x'",
    "SELECT e/ehr_id/value FROM EHR e CONTAINS ITEM_TREE i WHERE e/directory/name/value = 'x'",
  ])('%s: one document more for each that is found, and nothing is unfolded', async (aql) => {
    for (const documents of [6, 24]) {
      const { rows, examined, handedOn } = await costOf(aql, oneEhr(documents, [observation(30)]));
      expect(rows).toBe(0);
      expect(examined).toBeLessThanOrEqual(2 * documents);
      expect(handedOn).toBe(documents);
    }
  });
});

describe('an abstract class between two', () => {
  it.each(['LOCATABLE', 'PATHABLE'])(
    '%s: each of its objects is met once, not with every ELEMENT',
    async (between) => {
      const aql = `SELECT x/name/value FROM COMPOSITION c CONTAINS OBSERVATION o CONTAINS ${between} p CONTAINS ELEMENT x[name/value='wanted']`;
      for (const elements of [20, 80]) {
        const { rows, examined, handedOn } = await costOf(aql, oneEhr(2, [observation(elements)]));
        // HISTORY, EVENT and ITEM_TREE have the one ELEMENT below them, in each of two COMPOSITIONs.
        expect([rows, examined]).toEqual([2 * 3, 2]);
        expect(handedOn).toBeLessThanOrEqual(2 * (elements + 5));
      }
    },
  );
});

describe('two chains that are joined by AND', () => {
  const AQL = `SELECT i/name/value FROM EHR e CONTAINS ((SECTION[${SECTION}] CONTAINS ENTRY i) AND (OBSERVATION[${OBSERVATION}] CONTAINS ITEM_TREE t[at0003]))`;

  const OF_MANY =
    ' FROM EHR e CONTAINS ((COMPOSITION c CONTAINS OBSERVATION o) AND (COMPOSITION d CONTAINS ELEMENT x))';

  it('are each looked for once for a document, however many matches the other has in it', async () => {
    const documents = 4;
    const costs: Cost[] = [];
    for (const entries of [2, 8]) costs.push(await costOf(AQL, oneEhr(documents, [section(entries)])));
    const [few, many] = costs;
    expect([few?.rows, many?.rows]).toEqual([(documents * 2) ** 2, (documents * 8) ** 2]);
    expect(many?.examined).toBe(few?.examined);
    // Each row is handed on once, and nothing that is no row.
    expect(many?.handedOn).toBe(many?.rows);
    expect(few?.examined).toBeLessThanOrEqual(documents + (few?.rows ?? 0));
  });

  it.each(["t/name/value = 'nowhere'", "o/name/value = 'nowhere'"])(
    'of one EHR, WHERE %s: the documents of each are read once',
    async (condition) => {
      const ofOne = `EHR e[ehr_id/value='${EHR}']`;
      const named = AQL.replace('OBSERVATION[', 'OBSERVATION o[').replace('EHR e', ofOne);
      for (const documents of [4, 16]) {
        const { rows, examined } = await costOf(
          `${named} WHERE ${condition}`,
          oneEhr(documents, [section(2)]),
        );
        expect(rows).toBe(0);
        expect(examined).toBeLessThanOrEqual(2 * documents);
      }
    },
  );

  it.each([
    ['DISTINCT e/ehr_id/value', 3],
    ['COUNT(DISTINCT e/ehr_id/value)', 1],
    ['MAX(e/ehr_id/value)', 1],
  ])('of many EHRs, SELECT %s: the documents of each are read once', async (select, answered) => {
    for (const documents of [4, 16]) {
      const { rows, examined, handedOn } = await costOf(
        `SELECT ${select}${OF_MANY}`,
        severalEhrs(3, documents),
      );
      expect(rows).toBe(answered);
      // Those of one EHR a second time, where the database chooses an index.
      expect(examined).toBeLessThanOrEqual((2 * 3 + 1) * documents);
      expect(handedOn).toBe(3 * documents);
    }
  });

  it.each(['DISTINCT o/name/value', 'MAX(o/data[at0001]/origin/value)'])(
    'of many EHRs, SELECT %s: no pairs are unfolded',
    async (select) => {
      for (const documents of [4, 16]) {
        const { rows, handedOn } = await costOf(`SELECT ${select}${OF_MANY}`, severalEhrs(3, documents));
        expect(rows).toBe(1);
        // Two OBSERVATIONs in each document, and no more for what is found beside it.
        expect(handedOn).toBe(2 * 3 * documents);
      }
    },
  );
});
