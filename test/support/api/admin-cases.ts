import { randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import mongoose from 'mongoose';
import request from 'supertest';

import type { Settings } from '../../../config/settings.js';
import { COLLECTIONS } from '../../../models/access/layout.js';
import type { ApiCase } from './cases.js';
import { comparisonCases } from './comparison-cases.js';
import type { Call } from './probe.js';
import { AQL, STATUS, statusOf, TEMPLATE, World } from './world.js';
import { fixtureText } from '../fixture.js';
import { givenTemplate } from '../resources.js';
import { ADMIN, bearer, WITH_ADMIN } from '../tokens.js';
import { testApp } from '../app.js';

/** A line of an export of all versions. */
const RESTORED = JSON.stringify({
  ...{ kind: 'stored_query', name: 'org.example.restored::ehrs', version: '1.0.0' },
  ...{ saved: '2026-01-31T12:00:00Z', q: AQL },
});

/** Cases of the administration API; the first of each operation succeeds. */
export function adminCases(world: World): ApiCase[] {
  return [
    { id: 'getStatus', status: 200, call: () => ({}) },
    { id: 'getPermissions', status: 200, call: () => ({}) },
    ...templateCases(world),
    ...ehrCases(world),
    { id: 'deleteStoredQuery', status: 200, call: async () => ({ params: await world.query() }) },
    {
      id: 'deleteStoredQuery',
      status: 400,
      call: async () => ({ params: { ...(await world.query()), version: '1' } }),
    },
    {
      id: 'deleteStoredQuery',
      status: 404,
      call: () => ({ params: { qualified_query_name: 'none', version: '1.0.0' } }),
    },
    { id: 'getAudit', status: 200, call: () => ({}) },
    { id: 'getAudit', status: 400, call: () => ({ query: '?from=yesterday' }) },
    { id: 'getAudit', status: 200, call: () => ({ query: '?format=fhir&fetch=3&order=oldest' }) },
    { id: 'getAudit', status: 400, call: () => ({ query: '?format=fhir&after=none' }) },
    { id: 'getEhrAccess', status: 200, call: async () => ({ params: { ehr_id: await world.ehr() } }) },
    { id: 'ehr_access', status: 200, call: async () => ({ params: { ehr_id: await world.ehr() } }) },
    {
      id: 'ehr_access',
      status: 400,
      call: async () => ({ params: { ehr_id: await world.ehr() }, query: '?after=%20' }),
    },
    { id: 'ehr_access', status: 404, call: () => ({ params: { ehr_id: randomUUID() } }) },
    { id: 'verify', status: 200, call: () => ({}) },
    { id: 'verify', status: 400, call: () => ({ query: '?since=yesterday' }) },
    { id: 'getSeal', status: 200, call: () => ({}) },
    { id: 'restore', status: 200, call: () => ({ params: { batch: randomUUID() }, body: RESTORED }) },
    { id: 'restore', status: 400, call: () => ({ params: { batch: randomUUID() }, body: '{"kind":"x"}' }) },
    { id: 'getStatistics', status: 200, call: () => ({ query: '?list=versions' }) },
    { id: 'getStatistics', status: 400, call: () => ({ query: '?from=yesterday' }) },
    { id: 'getStatistics', status: 404, call: () => ({ query: `?ehr_id=${randomUUID()}` }) },
    ...mergeCases(world),
  ];
}

/** A template with two revisions. */
async function revised(world: World): Promise<{ template_id: string }> {
  const { template_id, text } = await world.template();
  await request(testApp({ ...WITH_ADMIN, templateRevisions: true }))
    .post('/rest/openehr/v1/definition/template/adl1.4')
    .set({ 'Content-Type': 'application/xml', Authorization: ADMIN })
    .send(text.replace('</concept>', ' again</concept>'));
  return { template_id };
}

/** Upgrades of templates without data: they are done at once. */
function upgradeCases(world: World): ApiCase[] {
  const app = testApp(WITH_ADMIN);
  const ask = (path: string, body: object = {}): request.Test =>
    request(app).post(`/rest/admin/template/${path}`).set('Authorization', ADMIN).send(body);
  const planned = async (): Promise<{ template_id: string; hash: string }> => {
    const { template_id } = await revised(world);
    const { body } = await ask(`${template_id}/upgrade?dry_run=true`, { rules: [] });
    return { template_id, hash: String((body as { hash: unknown }).hash) };
  };
  const done = async (): Promise<{ template_id: string; upgrade_id: string }> => {
    const { template_id, hash } = await planned();
    const { body } = await ask(`${template_id}/upgrade`, { rules: [], hash });
    const { job } = body as { job: string };
    for (;;) {
      const path = `/rest/admin/template/${template_id}/upgrade/${job}`;
      const told = await request(app).get(path).set('Authorization', ADMIN);
      if ((told.body as { state: string }).state === 'done') return { template_id, upgrade_id: job };
    }
  };
  const inState = async (state: string): Promise<{ template_id: string; upgrade_id: string }> => {
    const params = await done();
    await mongoose.connection
      .collection<{ _id: string }>(COLLECTIONS.templateUpgrades)
      .updateOne({ _id: params.upgrade_id }, { $set: { state } });
    return params;
  };
  const unknown = { template_id: 'unknown', upgrade_id: randomUUID() };
  return [
    {
      id: 'upgradeTemplate',
      status: 200,
      call: async () => ({ params: await revised(world), query: '?dry_run=true', body: { rules: [] } }),
    },
    {
      id: 'upgradeTemplate',
      status: 202,
      call: async () => {
        const { template_id, hash } = await planned();
        return { params: { template_id }, body: { rules: [], hash } };
      },
    },
    { id: 'upgradeTemplate', status: 400, call: async () => ({ params: await revised(world), body: {} }) },
    { id: 'upgradeTemplate', status: 404, call: () => ({ params: unknown, body: { rules: [], hash: 'x' } }) },
    {
      id: 'upgradeTemplate',
      status: 409,
      call: async () => ({ params: await revised(world), body: { rules: [], hash: 'x' } }),
    },
    {
      id: 'listTemplateUpgrades',
      status: 200,
      call: async () => ({ params: { template_id: (await done()).template_id } }),
    },
    { id: 'listTemplateUpgrades', status: 404, call: () => ({ params: unknown }) },
    { id: 'getTemplateUpgrade', status: 200, call: async () => ({ params: await done() }) },
    { id: 'pauseTemplateUpgrade', status: 200, call: async () => ({ params: await inState('running') }) },
    { id: 'resumeTemplateUpgrade', status: 200, call: async () => ({ params: await inState('paused') }) },
    { id: 'undoTemplateUpgrade', status: 200, call: async () => ({ params: await done() }) },
    ...['getTemplateUpgrade', 'pauseTemplateUpgrade', 'resumeTemplateUpgrade', 'undoTemplateUpgrade'].map(
      (id): ApiCase => ({ id, status: 404, call: () => ({ params: unknown }) }),
    ),
    ...['pauseTemplateUpgrade', 'resumeTemplateUpgrade'].map((id): ApiCase => ({
      id,
      status: 409,
      call: async () => ({ params: await done() }),
    })),
    {
      id: 'undoTemplateUpgrade',
      status: 409,
      call: async () => {
        const params = await done();
        await ask(`${params.template_id}/upgrade/${params.upgrade_id}/undo`);
        return { params };
      },
    },
  ];
}

function templateCases(world: World): ApiCase[] {
  const used = async (): Promise<{ template_id: string }> => {
    await world.composition();
    return { template_id: TEMPLATE };
  };
  const body = fixtureText(`opt/${TEMPLATE}.opt`);
  return [
    {
      id: 'updateTemplate',
      status: 200,
      call: async () => {
        const { template_id, text } = await world.template();
        return { params: { template_id }, body: text };
      },
    },
    { id: 'updateTemplate', status: 400, call: async () => ({ params: await used(), body: 'x' }) },
    {
      id: 'updateTemplate',
      status: 404,
      call: () => {
        const { templateId, text } = world.opt();
        return { params: { template_id: templateId }, body: text };
      },
    },
    { id: 'updateTemplate', status: 422, call: async () => ({ params: await used(), body }) },
    {
      id: 'compareTemplate',
      status: 200,
      call: async () => ({ params: await used(), body: body.replace('</concept>', ' another</concept>') }),
    },
    { id: 'compareTemplate', status: 400, call: async () => ({ params: await used(), body: 'x' }) },
    { id: 'compareTemplate', status: 404, call: () => ({ params: { template_id: 'unknown' }, body }) },
    ...comparisonCases(world),
    ...upgradeCases(world),
    {
      id: 'listTemplateRevisions',
      status: 200,
      call: async () => ({ params: await used() }),
    },
    { id: 'listTemplateRevisions', status: 404, call: () => ({ params: { template_id: 'unknown' } }) },
    {
      id: 'removeTemplateRevision',
      status: 204,
      call: async () => ({ params: { ...(await revised(world)), template_revision: '2' } }),
    },
    {
      id: 'removeTemplateRevision',
      status: 404,
      call: async () => ({ params: { ...(await used()), template_revision: 'none' } }),
    },
    {
      id: 'removeTemplateRevision',
      status: 422,
      call: async () => ({ params: { ...(await used()), template_revision: '1' } }),
    },
    {
      id: 'deleteTemplate',
      status: 202,
      call: async () => ({ params: { template_id: (await world.template()).template_id } }),
    },
    { id: 'deleteTemplate', status: 404, call: () => ({ params: { template_id: 'unknown' } }) },
    { id: 'deleteTemplate', status: 422, call: async () => ({ params: await used() }) },
    {
      id: 'deleteAllTemplates',
      status: 200,
      call: async () => {
        await removeEverything(world);
        return {};
      },
    },
    { id: 'deleteAllTemplates', status: 405, call: () => ({ settings: { adminAllowDeleteAll: false } }) },
    {
      id: 'deleteAllTemplates',
      status: 422,
      call: async () => {
        await used();
        return {};
      },
    },
  ];
}

/** No EHR, so no use of a template, is left; what the case before left goes without a request for each. */
async function removeEverything(world: World): Promise<void> {
  const kept = ['templates', 'settings', 'aql_shapes', 'stored_queries', 'idempotency_keys'];
  const cleared = Object.values(COLLECTIONS).filter((name) => !kept.includes(name));
  await Promise.all(cleared.map((name) => mongoose.connection.collection(name).deleteMany({})));
  await givenTemplate(world.app, TEMPLATE);
}

function ehrCases(world: World): ApiCase[] {
  const patient = randomUUID();
  return [
    {
      id: 'updateEhr',
      status: 200,
      call: async () => ({ params: { ehr_id: await world.ehr() }, body: STATUS }),
    },
    {
      id: 'updateEhr',
      status: 409,
      call: async () => {
        await world.ehr(statusOf(patient));
        return { params: { ehr_id: await world.ehr() }, body: statusOf(patient) };
      },
    },
    { id: 'deleteEhr', status: 204, call: async () => ({ params: { ehr_id: await world.ehr() } }) },
    {
      id: 'deleteEhr',
      status: 409,
      call: async () => ({ params: { ehr_id: (await mergedPair(world)).target_ehr } }),
    },
    {
      id: 'updateContribution',
      status: 200,
      call: async () => ({ params: await world.contribution(), body: 'x' }),
    },
    { id: 'deleteContribution', status: 501, call: async () => ({ params: await world.contribution() }) },
    {
      id: 'deleteComposition',
      status: 200,
      call: async () => {
        const { ehr_id, version_uid } = await world.composition();
        return { params: { ehr_id, composition_id: version_uid } };
      },
    },
    {
      id: 'deleteDirectory',
      status: 200,
      call: async () => {
        const { ehr_id, version_uid } = await world.directory();
        return { params: { ehr_id, directory_id: version_uid } };
      },
    },
  ];
}

/** Cases of the Admin API, which is there with `ITS_REST=1.1.0` only. */
export function releasedCases(app: RequestListener): ApiCase[] {
  const world = new World(app);
  const several = async () => `?ehr_id=${await world.ehr()}&ehr_id=${await world.ehr()}`;
  return [
    { id: 'admin_ehr_delete', status: 204, call: async () => ({ params: { ehr_id: await world.ehr() } }) },
    { id: 'admin_ehr_delete', status: 404, call: () => ({ params: { ehr_id: randomUUID() } }) },
    { id: 'admin_ehr_delete_all', status: 204, call: async () => ({ query: await several() }) },
    { id: 'admin_ehr_delete_all', status: 404, call: () => ({ query: `?ehr_id=${randomUUID()}` }) },
    { id: 'admin_ehr_delete_all', status: 405, call: () => ({}) },
  ];
}

async function pairOf(world: World) {
  return { source_ehr: await world.ehr(), target_ehr: await world.ehr() };
}

/** Two EHRs of which the source was merged into the target. */
export async function mergedPair(world: World, reversible = true) {
  const ehrs = { ...(await pairOf(world)), reversible };
  await request(testApp(WITH_ADMIN)).post('/rest/admin/ehr/merge').set('Authorization', ADMIN).send(ehrs);
  return ehrs;
}

/** Queries about an EHR that was merged away. */
export function mergedQueryCases(world: World): ApiCase[] {
  const body = async () => ({ q: AQL, ehr_id: (await mergedPair(world)).source_ehr });
  const query = async () => `?${new URLSearchParams(await body()).toString()}`;
  return [
    { id: 'query_execute_adhoc', status: 404, call: async () => ({ query: await query() }) },
    { id: 'query_execute_adhoc_post', status: 404, call: async () => ({ body: await body() }) },
    { id: 'query_explain', status: 404, call: async () => ({ body: await body() }) },
  ];
}

/** Another administrator than that of the cases. */
const OTHER = bearer(['ADMIN'], 'other-admin');
const APPROVED: Pick<Settings, 'fourEyes'> = { fourEyes: ['merge'] };

/** A merge that somebody else asked for, and that was carried out if that is said. */
async function waitingMerge(world: World, isDone = false): Promise<{ merge_id: string }> {
  const app = testApp({ ...WITH_ADMIN, ...APPROVED });
  const path = '/rest/admin/ehr/merge';
  const body = { ...(await pairOf(world)), reversible: true };
  const asked = await request(app).post(path).set('Authorization', OTHER).send(body);
  const { merge_id } = asked.body as { merge_id: string };
  if (isDone) await request(app).post(`${path}/${merge_id}/confirm`).set('Authorization', ADMIN);
  return { merge_id };
}

function mergeCases(world: World): ApiCase[] {
  const pair = () => pairOf(world);
  const merged = (reversible = true) => mergedPair(world, reversible);
  const waiting = (isDone = false) => waitingMerge(world, isDone);
  /** The key of a request that was carried out, with another body. */
  const repeated = async (path: string): Promise<Call> => {
    const ehrs = path.endsWith('unmerge') ? await merged() : { ...(await pair()), reversible: true };
    const { source_ehr, target_ehr } = ehrs;
    const key = randomUUID();
    await request(testApp(WITH_ADMIN))
      .post(path)
      .set({ Authorization: ADMIN, 'Idempotency-Key': key })
      .send(path.endsWith('unmerge') ? { source_ehr, target_ehr } : ehrs);
    return { headers: { 'Idempotency-Key': key }, body: { ...ehrs, dry_run: true } };
  };
  const unknown: { source_ehr: string; target_ehr: string } = {
    source_ehr: randomUUID(),
    target_ehr: randomUUID(),
  };
  const undo = ({ source_ehr, target_ehr }: typeof unknown): Call => ({ body: { source_ehr, target_ehr } });
  const named = ({ source_ehr, target_ehr }: typeof unknown): Call => ({
    query: `?source=${source_ehr}&target=${target_ehr}`,
  });
  const final = (merge_id: string): Call => ({ params: { merge_id }, body: { reason: 'checked' } });
  const mergeIdOf = async ({ source_ehr }: typeof unknown): Promise<string> => {
    const listed = await request(testApp(WITH_ADMIN))
      .get(`/rest/admin/ehr/merge_status?source=${source_ehr}`)
      .set('Authorization', ADMIN);
    return String((listed.body as { merge_id: string }[])[0]?.merge_id);
  };
  const moved = async (target_ehr: string): Promise<Call> => {
    const { ehr_id, versioned_object_uid: composition_id } = await world.composition();
    return { params: { ehr_id, composition_id }, body: { target_ehr } };
  };
  return [
    { id: 'mergeEhrs', status: 200, call: async () => ({ body: { ...(await pair()), reversible: true } }) },
    { id: 'mergeEhrs', status: 400, call: async () => ({ body: await pair() }) },
    { id: 'mergeEhrs', status: 404, call: () => ({ body: { ...unknown, reversible: true } }) },
    { id: 'mergeEhrs', status: 409, call: async () => ({ body: await merged() }) },
    { id: 'mergeEhrs', status: 422, call: () => repeated('/rest/admin/ehr/merge') },
    {
      id: 'mergeEhrs',
      status: 202,
      call: async () => ({ settings: APPROVED, body: { ...(await pair()), reversible: true } }),
    },
    { id: 'confirmMerge', status: 200, call: async () => ({ params: await waiting(), body: {} }) },
    {
      id: 'confirmMerge',
      status: 400,
      call: async () => ({ params: await waiting(), body: { digest: 'x' } }),
    },
    { id: 'confirmMerge', status: 404, call: () => ({ params: { merge_id: randomUUID() } }) },
    {
      id: 'confirmMerge',
      status: 409,
      call: async () => ({ params: await waiting(), body: { digest: '0'.repeat(64) } }),
    },
    { id: 'withdrawMerge', status: 200, call: async () => ({ params: await waiting(), body: {} }) },
    { id: 'withdrawMerge', status: 400, call: async () => ({ params: await waiting(), body: { a: 1 } }) },
    { id: 'withdrawMerge', status: 404, call: () => ({ params: { merge_id: randomUUID() } }) },
    { id: 'withdrawMerge', status: 409, call: async () => ({ params: await waiting(true) }) },
    { id: 'unmerge', status: 200, call: async () => undo(await merged()) },
    { id: 'unmerge', status: 422, call: () => repeated('/rest/admin/ehr/unmerge') },
    { id: 'unmerge', status: 400, call: () => ({ body: {} }) },
    { id: 'unmerge', status: 404, call: () => undo(unknown) },
    { id: 'unmerge', status: 409, call: async () => undo(await merged(false)) },
    {
      id: 'getMergeTarget',
      status: 200,
      call: async () => ({ params: { merged_ehr_id: (await merged()).source_ehr } }),
    },
    { id: 'getMergeTarget', status: 400, call: () => ({ params: { merged_ehr_id: 'x' } }) },
    { id: 'getMergeTarget', status: 404, call: () => ({ params: { merged_ehr_id: randomUUID() } }) },
    { id: 'getMergeStatusList', status: 200, call: () => ({}) },
    { id: 'getMergeStatusList', status: 400, call: () => ({ query: '?source=x' }) },
    { id: 'getMergeStatusList', status: 404, call: () => named(unknown) },
    { id: 'getMergeDetails', status: 200, call: async () => named(await merged()) },
    { id: 'getMergeDetails', status: 400, call: () => ({}) },
    { id: 'getMergeDetails', status: 404, call: () => named(unknown) },
    { id: 'listEhrs', status: 200, call: () => ({}) },
    { id: 'listEhrs', status: 400, call: () => ({ query: '?fetch=0' }) },
    { id: 'getMergeCandidates', status: 200, call: () => ({}) },
    { id: 'getMergeCandidates', status: 400, call: () => ({ query: '?fetch=0' }) },
    { id: 'getMergeCandidates', status: 404, call: () => ({ query: `?ehr_id=${randomUUID()}` }) },
    { id: 'finaliseMerge', status: 200, call: async () => final(await mergeIdOf(await merged())) },
    { id: 'finaliseMerge', status: 400, call: () => ({ ...final(randomUUID()), body: {} }) },
    { id: 'finaliseMerge', status: 404, call: () => final(randomUUID()) },
    { id: 'finaliseMerge', status: 409, call: async () => final(await mergeIdOf(await merged(false))) },
    { id: 'moveComposition', status: 200, call: async () => moved((await pair()).source_ehr) },
    { id: 'moveComposition', status: 400, call: () => moved('x') },
    { id: 'moveComposition', status: 404, call: () => moved(randomUUID()) },
    { id: 'moveComposition', status: 409, call: async () => moved((await merged()).source_ehr) },
  ];
}
