import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import request from 'supertest';
import type { ApiCase } from './cases.js';
import type { Call } from './probe.js';
import type { World } from './world.js';
import { aComposition } from '../resources.js';

const DASHBOARD = {
  name: 'Ward',
  panels: [{ title: 'Records', q: 'SELECT e/ehr_id/value FROM EHR e', show: 'table' }],
};

/** Cases of favourites, dashboards, previews and prints. `merged`: an EHR that was merged away; `invalid`: a COMPOSITION. */
export function ownCases(
  world: World,
  { merged, invalid }: { readonly merged: () => Promise<string>; readonly invalid: object },
): ApiCase[] {
  const ehr = async (): Promise<{ ehr_id: string }> => ({ ehr_id: await world.ehr() });
  const unknown = (): { ehr_id: string } => ({ ehr_id: randomUUID() });
  const favourite = async (): Promise<{ ehr_id: string }> => {
    const at = await ehr();
    await request(world.app).put(`/rest/favourite/${at.ehr_id}`);
    return at;
  };
  const fresh = (): { dashboard_id: string } => ({ dashboard_id: randomUUID() });
  const dashboard = async (): Promise<{ dashboard_id: string }> => {
    const at = fresh();
    await request(world.app).put(`/rest/dashboard/${at.dashboard_id}`).send(DASHBOARD);
    return at;
  };
  const preview = (body: object) => async () => {
    const { ehr_id, version_uid } = await world.composition();
    return { params: { ehr_id, version_uid }, body };
  };
  /** A terminology server in the place of one. */
  const search = async (valueSet: string): Promise<Call> => ({
    body: { value_set: valueSet },
    settings: { terminology: { serverUrl: await valueSetServer(), timeoutMs: 5_000, failOnError: false } },
  });
  const malformed = { dashboard_id: 'mine' };
  return [
    { id: 'favourite_list', status: 200, call: () => favourite().then(() => ({})) },
    { id: 'favourite_save', status: 204, call: async () => ({ params: await ehr() }) },
    { id: 'favourite_save', status: 400, call: () => ({ params: { ehr_id: 'all' } }) },
    { id: 'favourite_save', status: 404, call: () => ({ params: unknown() }) },
    { id: 'favourite_save', status: 409, call: async () => ({ params: { ehr_id: await merged() } }) },
    { id: 'favourite_delete', status: 204, call: async () => ({ params: await favourite() }) },
    { id: 'favourite_delete', status: 400, call: () => ({ params: { ehr_id: 'all' } }) },
    { id: 'favourite_delete', status: 404, call: async () => ({ params: await ehr() }) },
    { id: 'dashboard_list', status: 200, call: () => dashboard().then(() => ({})) },
    { id: 'dashboard_save', status: 200, call: () => ({ params: fresh(), body: DASHBOARD }) },
    { id: 'dashboard_save', status: 400, call: () => ({ params: fresh(), body: { name: '' } }) },
    { id: 'dashboard_save', status: 400, call: () => ({ params: malformed, body: DASHBOARD }) },
    {
      id: 'dashboard_save',
      status: 412,
      call: () => ({
        params: fresh(),
        headers: { 'If-Match': '"2026-01-01T00:00:00.000Z"' },
        body: DASHBOARD,
      }),
    },
    { id: 'dashboard_delete', status: 204, call: async () => ({ params: await dashboard() }) },
    { id: 'dashboard_delete', status: 400, call: () => ({ params: malformed }) },
    { id: 'dashboard_delete', status: 404, call: () => ({ params: fresh() }) },
    { id: 'composition_preview', status: 200, call: preview(aComposition()) },
    { id: 'composition_preview', status: 400, call: preview({}) },
    {
      id: 'composition_preview',
      status: 404,
      call: async () => {
        const { params, body } = await preview(aComposition())();
        return { params: { ...params, ...unknown() }, body };
      },
    },
    { id: 'composition_preview', status: 422, call: preview(invalid) },
    { id: 'terminology_search', status: 200, call: () => search('url') },
    { id: 'terminology_search', status: 400, call: () => search('') },
    { id: 'terminology_search', status: 404, call: () => ({ body: { value_set: 'url' } }) },
    {
      id: 'terminology_search',
      status: 502,
      call: () => ({
        body: { value_set: 'url' },
        settings: { terminology: { serverUrl: 'http://127.0.0.1:1', timeoutMs: 1_000, failOnError: false } },
      }),
    },
    { id: 'print_note', status: 204, call: async () => ({ body: { of: 'record', ...(await ehr()) } }) },
    { id: 'print_note', status: 400, call: () => ({ body: { of: 'nothing' } }) },
    { id: 'print_note', status: 404, call: () => ({ body: { of: 'record', ...unknown() } }) },
  ];
}

/** Answers each question with one concept, for as long as the tests run. */
async function valueSetServer(): Promise<string> {
  const server = createServer((_, response) => {
    response.end(JSON.stringify({ expansion: { contains: [{ code: '1', display: 'One', system: 's' }] } }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  server.unref();
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
