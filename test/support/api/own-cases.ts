import { randomUUID } from 'node:crypto';
import request from 'supertest';
import type { ApiCase } from './cases.js';
import type { World } from './world.js';

const DASHBOARD = {
  name: 'Ward',
  panels: [{ title: 'Records', q: 'SELECT e/ehr_id/value FROM EHR e', show: 'table' }],
};

/** Cases of favourites, dashboards and prints. `merged`: an EHR that was merged away. */
export function ownCases(world: World, merged: () => Promise<string>): ApiCase[] {
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
    { id: 'dashboard_delete', status: 204, call: async () => ({ params: await dashboard() }) },
    { id: 'dashboard_delete', status: 400, call: () => ({ params: malformed }) },
    { id: 'dashboard_delete', status: 404, call: () => ({ params: fresh() }) },
    { id: 'print_note', status: 204, call: async () => ({ body: { of: 'record', ...(await ehr()) } }) },
    { id: 'print_note', status: 400, call: () => ({ body: { of: 'nothing' } }) },
    { id: 'print_note', status: 404, call: () => ({ body: { of: 'record', ...unknown() } }) },
  ];
}
