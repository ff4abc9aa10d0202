import { randomUUID } from 'node:crypto';
import request from 'supertest';
import { testApp } from '../app.js';
import { ADMIN, WITH_ADMIN } from '../tokens.js';
import type { ApiCase } from './cases.js';
import type { World } from './world.js';

const PERMIT = { policy: 'permit (principal, action, resource);' };
const LOCK = { policy: 'forbid (principal, action, resource);' };
const WRONG = { policy: 'permit (principal, action, resource) when { resource.colour == "red" };' };
const ASKING = {
  policy:
    'forbid (principal, action, resource is Version) when { resource.categories.contains("psychiatry") };',
};
/** Where a change takes two persons. */
const TWO = { fourEyes: ['policy'] } as const;
const PRINCIPAL = { sub: 'ada' };
const CATEGORIES = { categories: [{ name: 'psychiatry', templates: ['psychiatry_note.v1'] }] };

/** Cases of policies of access. */
export function policyCases(world: World): ApiCase[] {
  const fresh = () => ({ policy_id: `p-${randomUUID()}` });
  const keep = (path: string, body: object) =>
    request(testApp({ ...WITH_ADMIN, accessMode: 'dry' }))
      .put(`/rest/admin${path}`)
      .set('Authorization', ADMIN)
      .send(body)
      .expect(200);
  /** One change of categories waits at a time. */
  const nothingWaits = async () => {
    const two = testApp({ ...WITH_ADMIN, accessMode: 'dry', ...TWO });
    const { body } = await request(two).get('/rest/admin/approval').set('Authorization', ADMIN);
    for (const { approval_id: id, operation } of body as { approval_id: string; operation: string }[])
      if (operation === 'putCategories')
        await request(two)
          .post(`/rest/admin/approval/${id}/withdraw`)
          .set('Authorization', ADMIN)
          .expect(200);
  };
  const kept = async () => {
    const params = fresh();
    await keep(`/policies/${params.policy_id}`, PERMIT);
    return params;
  };
  const question = (resource: object) => ({ principal: PRINCIPAL, action: 'read', resource });
  const draft = { policies: [{ id: 'p', ...PERMIT }], principals: [PRINCIPAL] };
  return [
    { id: 'listPolicies', status: 200, call: () => ({}) },
    { id: 'getPolicy', status: 200, call: async () => ({ params: await kept() }) },
    { id: 'getPolicy', status: 404, call: () => ({ params: fresh() }) },
    { id: 'listPolicyVersions', status: 200, call: async () => ({ params: await kept() }) },
    { id: 'listPolicyVersions', status: 404, call: () => ({ params: fresh() }) },
    { id: 'putPolicy', status: 200, call: () => ({ params: fresh(), body: PERMIT }) },
    { id: 'putPolicy', status: 400, call: () => ({ params: fresh(), body: { policy: 'permit' } }) },
    { id: 'putPolicy', status: 409, call: () => ({ params: fresh(), body: LOCK }) },
    { id: 'putPolicy', status: 422, call: () => ({ params: fresh(), body: WRONG }) },
    { id: 'removePolicy', status: 204, call: async () => ({ params: await kept() }) },
    { id: 'removePolicy', status: 404, call: () => ({ params: fresh() }) },
    { id: 'putPolicy', status: 202, call: () => ({ params: fresh(), body: PERMIT, settings: TWO }) },
    { id: 'removePolicy', status: 202, call: async () => ({ params: await kept(), settings: TWO }) },
    {
      id: 'removePolicy',
      status: 409,
      call: async () => {
        const params = await kept();
        await request(testApp({ ...WITH_ADMIN, accessMode: 'dry', ...TWO }))
          .delete(`/rest/admin/policies/${params.policy_id}`)
          .set('Authorization', ADMIN)
          .expect(202);
        return { params, settings: TWO };
      },
    },
    { id: 'getCategories', status: 200, call: () => ({}) },
    { id: 'listCategoryVersions', status: 200, call: () => ({}) },
    { id: 'putCategories', status: 200, call: () => ({ body: CATEGORIES }) },
    { id: 'putCategories', status: 400, call: () => ({ body: { categories: [{ name: 'event' }] } }) },
    {
      id: 'putCategories',
      status: 409,
      call: async () => {
        await keep('/categories', CATEGORIES);
        await keep(`/policies/${fresh().policy_id}`, ASKING);
        return { body: { categories: [] } };
      },
    },
    {
      id: 'putCategories',
      status: 412,
      call: () => ({ body: CATEGORIES, headers: { 'If-Match': '"categories::999999"' } }),
    },
    {
      id: 'putCategories',
      status: 202,
      call: async () => {
        await nothingWaits();
        return { body: CATEGORIES, settings: TWO };
      },
    },
    { id: 'validatePolicy', status: 200, call: () => ({ body: PERMIT }) },
    { id: 'validatePolicy', status: 400, call: () => ({ body: {} }) },
    {
      id: 'decideAccess',
      status: 200,
      call: async () => ({ body: question({ ehr_id: await world.ehr() }) }),
    },
    { id: 'decideAccess', status: 400, call: () => ({ body: question({}) }) },
    { id: 'decideAccess', status: 404, call: () => ({ body: question({ ehr_id: randomUUID() }) }) },
    { id: 'listObserved', status: 200, call: () => ({}) },
    { id: 'listObserved', status: 400, call: () => ({ query: '?from=yesterday' }) },
    { id: 'comparePolicies', status: 200, call: () => ({ body: draft }) },
    { id: 'comparePolicies', status: 400, call: () => ({ body: { ...draft, principals: [] } }) },
    {
      id: 'comparePolicies',
      status: 422,
      call: () => ({ body: { ...draft, policies: [{ id: 'p', ...WRONG }] } }),
    },
  ];
}
