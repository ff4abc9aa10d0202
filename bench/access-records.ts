import type { JsonObject } from '../openehr/base/json.js';
import { inParallel } from '../cli/demo/load.js';
import { HIDDEN_TAG } from './access-policies.js';
import { answered, V1 } from './access-servers.js';
import type { Answer, Send } from './load-client.js';
import { madeUp } from './side-by-side.js';

/** A COMPOSITION that was committed. */
interface Committed {
  readonly ehrId: string;
  readonly versionUid: string;
  readonly contributionUid: string;
}

/** What is stored for the bench. */
export interface AccessRecords {
  /** EHRs that may be seen. */
  readonly seenEhrs: readonly string[];
  readonly hiddenEhrs: readonly string[];
  /** Subjects of these. */
  readonly hiddenSubjects: readonly string[];
  /** COMPOSITIONs that may be seen, and others in EHRs that may. */
  readonly seen: readonly Committed[];
  readonly hidden: readonly Committed[];
  /** COMPOSITIONs in EHRs that may not be seen. */
  readonly beyond: readonly Committed[];
}

const EHRS = 400;
const COMPOSITIONS = 4_000;
const PARALLEL = 16;

/** Every tenth EHR is hidden, and every twentieth COMPOSITION, by `access-policies.ts`. */
export async function storeRecords(send: Send): Promise<AccessRecords> {
  const ehrIds: string[] = [];
  await inParallel(EHRS, PARALLEL, async (index) => {
    const body = JSON.stringify(statusOf(`S-${index}`, 'patients'));
    const ehrId = etagOf(await answered(send('POST', `${V1}/ehr`, body), 201));
    ehrIds[index] = ehrId;
    if (index % 10 === 9) await hide(send, ehrId);
  });
  const committed: Committed[] = [];
  const bodies = madeUp(COMPOSITIONS);
  await inParallel(COMPOSITIONS, PARALLEL, async (index) => {
    // Not every EHR has the same kind: the templates come in twenties.
    const ehrId = ehrIds[(index * 7 + Math.floor(index / EHRS)) % EHRS] ?? '';
    const answer = await answered(send('POST', `${V1}/ehr/${ehrId}/composition`, bodies[index]), 201);
    committed[index] = { ehrId, versionUid: etagOf(answer), contributionUid: '' };
  });
  return sorted(send, ehrIds, committed);
}

async function hide(send: Send, ehrId: string): Promise<void> {
  const status = etagOf(await answered(send('GET', `${V1}/ehr/${ehrId}/ehr_status`), 200));
  const path = `${V1}/ehr/${ehrId}/ehr_status/${status.split('::')[0] ?? ''}/tags`;
  await answered(send('PUT', path, JSON.stringify([{ key: HIDDEN_TAG, value: 'yes' }])), 200);
}

async function sorted(
  send: Send,
  ehrIds: readonly string[],
  committed: readonly Committed[],
): Promise<AccessRecords> {
  const isHiddenEhr = new Set(ehrIds.filter((_, index) => index % 10 === 9));
  const hidden = committed.filter(({ ehrId }, index) => index % 20 === 13 && !isHiddenEhr.has(ehrId));
  const contributions = await Promise.all(
    hidden.map(({ ehrId, versionUid }) => contributionOf(send, ehrId, versionUid)),
  );
  return {
    seenEhrs: ehrIds.filter((id) => !isHiddenEhr.has(id)),
    hiddenEhrs: [...isHiddenEhr],
    hiddenSubjects: ehrIds.flatMap((id, index) => (isHiddenEhr.has(id) ? [`S-${index}`] : [])),
    seen: committed.filter(({ ehrId }, index) => index % 20 !== 13 && !isHiddenEhr.has(ehrId)),
    hidden: hidden.map((each, index) => ({ ...each, contributionUid: contributions[index] ?? '' })),
    beyond: committed.filter(({ ehrId }) => isHiddenEhr.has(ehrId)),
  };
}

async function contributionOf(send: Send, ehrId: string, versionUid: string): Promise<string> {
  const [container = ''] = versionUid.split('::');
  const path = `${V1}/ehr/${ehrId}/versioned_composition/${container}/version/${versionUid}`;
  const { text } = await answered(send('GET', path), 200);
  return (JSON.parse(text) as { contribution: { id: { value: string } } }).contribution.id.value;
}

/** The id in an ETag. */
function etagOf({ headers }: Answer): string {
  return String(headers.etag).replace(/^W\//, '').replaceAll('"', '');
}

function statusOf(subjectId: string, namespace: string): JsonObject {
  const id = { _type: 'GENERIC_ID', value: subjectId, scheme: 'id' };
  const archetype = 'openEHR-EHR-EHR_STATUS.generic.v1';
  return {
    _type: 'EHR_STATUS',
    archetype_node_id: archetype,
    archetype_details: {
      ...{ _type: 'ARCHETYPED', rm_version: '1.0.4' },
      archetype_id: { _type: 'ARCHETYPE_ID', value: archetype },
    },
    name: { _type: 'DV_TEXT', value: 'EHR Status' },
    subject: { _type: 'PARTY_SELF', external_ref: { _type: 'PARTY_REF', id, namespace, type: 'PERSON' } },
    is_queryable: true,
    is_modifiable: true,
  };
}
