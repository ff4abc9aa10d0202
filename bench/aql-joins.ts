import type { ReferenceData, ReferenceVersion } from '../aql/evaluate/data.js';
import { shapeCatalogue } from '../aql/index/shapes.js';
import { textTable } from '../cli/output.js';
import { runPipelineRows, shapeIds } from '../models/cross-collection/run-pipeline.js';
import { readRm } from '../openehr/rm/read.js';
import { loadReferenceData } from '../test/support/aql/load-reference.js';
import { fixtureJson, fixtureNames } from '../test/support/fixture.js';
import { onTemporaryDatabase, planOf } from './aql.js';
import { milliseconds, quantile } from './measure.js';
import { childrenOf, processFigures } from './process-figures.js';
import { vitalSigns } from './vital-signs.js';

const EHRS = 60;
const COMPOSITIONS = 404;
const RUNS = 5;
const LIMITS = { timeoutMs: 120_000 };
/** No composition, or one that lacks what its class must have. */
const UNREADABLE = /invalid|alternative_types|feeder-audit/;

/** Kinds of query that cost a product where they could cost a sum: conditions of the EHR, classes between two, AND. */
const JOINS: readonly (readonly [name: string, aql: string])[] = [
  [
    'LOCATABLE between two',
    "SELECT ex/value FROM COMPOSITION c CONTAINS OBSERVATION ox CONTAINS LOCATABLE px CONTAINS ELEMENT ex[name/value='dv_ehr_uri']",
  ],
  [
    'status of the EHR',
    "SELECT e/ehr_id/value FROM EHR e CONTAINS ELEMENT ex WHERE e/ehr_status/name/value = 'x'",
  ],
  [
    'directory of the EHR',
    "SELECT e/ehr_id/value FROM EHR e CONTAINS ITEM_TREE i WHERE e/directory/name/value = 'x'",
  ],
  [
    'AND of two chains',
    'SELECT e/ehr_id/value FROM EHR e CONTAINS ((SECTION[openEHR-EHR-SECTION.conformance_section.v0] CONTAINS ITEM ix) AND (INSTRUCTION[openEHR-EHR-INSTRUCTION.conformance_instruction.v0] CONTAINS ITEM_TREE itx[at0003]))',
  ],
];

/** Processor time of those queries, of the database and of this process, over 404 COMPOSITIONs of public templates in 60 EHRs. */
export async function benchAqlJoins(print: (line: string) => void): Promise<void> {
  await onTemporaryDatabase(print, async () => {
    await loadReferenceData(publicCompositions());
    const catalogue = shapeCatalogue(await shapeIds(null));
    const rows: string[][] = [];
    for (const [name, aql] of JOINS) {
      const { plan } = planOf(aql, catalogue);
      const processor: number[] = [];
      const elapsed: number[] = [];
      let found = 0;
      for (let run = 0; run < RUNS; run += 1) {
        const [start, before] = [performance.now(), processorSeconds()];
        found = (await runPipelineRows(plan, LIMITS)).length;
        elapsed.push(performance.now() - start);
        processor.push((processorSeconds() - before) * 1000);
      }
      rows.push([
        name,
        String(found),
        ...[processor, elapsed].map((each) => milliseconds(quantile(each, 0.5))),
      ]);
    }
    print(`${COMPOSITIONS} compositions of public templates in ${EHRS} EHRs`);
    print(textTable(['shape', 'rows', 'processor ms', 'elapsed ms'], rows));
  });
}

/** Of this process and all that it started. */
function processorSeconds(id = process.pid): number {
  const below = childrenOf(id).map((child) => processorSeconds(child));
  return below.reduce((sum, each) => sum + each, processFigures(id).processorSeconds);
}

/** EHRs with a status, and the compositions of the public fixtures in turn. */
function publicCompositions(): ReferenceData {
  const objects = fixtureNames('composition')
    .filter((name) => !UNREADABLE.test(name))
    .map((name) => readRm(fixtureJson(`composition/${name}`), 'COMPOSITION').object)
    .filter((object) => object !== null);
  const { ehrs, versions } = vitalSigns({
    ehrs: EHRS,
    compositionsPerEhr: Math.ceil(COMPOSITIONS / EHRS),
    seed: 1,
  });
  const compositions = versions.filter(({ type }) => type === 'COMPOSITION').slice(0, COMPOSITIONS);
  return {
    ehrs,
    versions: [
      ...versions.filter(({ type }) => type !== 'COMPOSITION'),
      ...compositions.map((version, at): ReferenceVersion => {
        const uid = { _type: 'OBJECT_VERSION_ID', value: version.uid };
        return { ...version, data: { ...objects[at % objects.length], uid } };
      }),
    ],
  };
}
