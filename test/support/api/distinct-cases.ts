import { randomUUID } from 'node:crypto';
import request from 'supertest';
import { testApp } from '../app.js';
import { ADMIN, WITH_ADMIN } from '../tokens.js';
import { mergedPair } from './admin-cases.js';
import type { ApiCase } from './cases.js';
import type { World } from './world.js';

const BODY = { reason: 'twins' };

/** Cases of what is said of two EHRs that look alike. */
export function distinctCases(world: World): ApiCase[] {
  const pair = async () => ({ ehr_id: await world.ehr(), other_ehr_id: await world.ehr() });
  const said = async () => {
    const both = await pair();
    await request(testApp(WITH_ADMIN))
      .put(`/rest/admin/ehr/${both.ehr_id}/distinct/${both.other_ehr_id}`)
      .set('Authorization', ADMIN)
      .send(BODY);
    return both;
  };
  const twice = async () => {
    const ehr_id = await world.ehr();
    return { ehr_id, other_ehr_id: ehr_id };
  };
  const merged = async () => {
    const { source_ehr, target_ehr } = await mergedPair(world);
    return { ehr_id: source_ehr, other_ehr_id: target_ehr };
  };
  const unknown = async () => ({ ehr_id: await world.ehr(), other_ehr_id: randomUUID() });
  return [
    {
      id: 'listDistinct',
      status: 200,
      call: async () => {
        await said();
        return {};
      },
    },
    { id: 'sayDistinct', status: 200, call: async () => ({ params: await pair(), body: BODY }) },
    { id: 'sayDistinct', status: 400, call: async () => ({ params: await twice(), body: BODY }) },
    { id: 'sayDistinct', status: 404, call: async () => ({ params: await unknown(), body: BODY }) },
    { id: 'sayDistinct', status: 409, call: async () => ({ params: await merged(), body: BODY }) },
    { id: 'takeBackDistinct', status: 204, call: async () => ({ params: await said() }) },
    {
      id: 'takeBackDistinct',
      status: 400,
      call: async () => ({ params: { ...(await pair()), other_ehr_id: 'all' } }),
    },
    { id: 'takeBackDistinct', status: 404, call: async () => ({ params: await pair() }) },
  ];
}
