import { randomUUID } from 'node:crypto';
import request from 'supertest';

import type { Settings } from '../../../config/settings.js';
import type { ApiCase } from './cases.js';
import type { Call } from './probe.js';
import type { World } from './world.js';
import { testApp } from '../app.js';
import { ADMIN, bearer, WITH_ADMIN } from '../tokens.js';

/** Another administrator than that of the cases. */
const OTHER = bearer(['ADMIN'], 'other-admin');
const TWO: Pick<Settings, 'fourEyes'> = { fourEyes: ['move', 'erase', 'finalise', 'policy'] };

/** What waits for a second person, what lets something wait, and whose queries are. */
export function approvalCases(world: World): ApiCase[] {
  const two = async (call: Promise<Call>): Promise<Call> => ({ ...(await call), settings: TWO });
  const ask = (path: string) =>
    request(testApp({ ...WITH_ADMIN, ...TWO }))
      .delete(`/rest/admin/ehr/${path}`)
      .set('Authorization', OTHER);
  const waiting = async (): Promise<{ approval_id: string }> => {
    const { body } = await ask(await world.ehr());
    const { approval_id } = body as { approval_id: string };
    return { approval_id };
  };
  const ehr = async () => ({ params: { ehr_id: await world.ehr() } });
  const composition = async () => {
    const { ehr_id, versioned_object_uid } = await world.composition();
    return { params: { ehr_id, composition_id: versioned_object_uid } };
  };
  const directory = async () => {
    const { ehr_id, version_uid } = await world.directory();
    return { params: { ehr_id, directory_id: version_uid } };
  };
  /** The same was asked for before. */
  const again = async (kind: 'composition' | 'directory', call: Promise<Call>): Promise<Call> => {
    const made = await call;
    const { ehr_id = '', [`${kind}_id`]: id = '' } = made.params ?? {};
    await ask(`${ehr_id}/${kind}/${id}`);
    return made;
  };
  const move = async () => ({ ...(await composition()), body: { target_ehr: await world.ehr() } });
  const final = async (): Promise<Call> => {
    const pair = { source_ehr: await world.ehr(), target_ehr: await world.ehr(), reversible: true };
    const merged = await request(testApp(WITH_ADMIN))
      .post('/rest/admin/ehr/merge')
      .set('Authorization', ADMIN)
      .send(pair);
    const { merge_id } = merged.body as { merge_id: string };
    return { params: { merge_id }, body: { reason: 'checked' } };
  };
  const nameSpace = { name_space: 'org.example::' };
  const unknown = { params: { approval_id: randomUUID() } };
  return [
    { id: 'giveQueryNameSpace', status: 200, call: () => ({ params: nameSpace, body: { sub: 'u-1' } }) },
    { id: 'giveQueryNameSpace', status: 400, call: () => ({ params: nameSpace, body: {} }) },
    {
      id: 'giveQueryNameSpace',
      status: 202,
      call: () => {
        const name_space = `org.n${randomUUID().slice(0, 8)}::`;
        return two(Promise.resolve({ params: { name_space }, body: { sub: 'u-1' } }));
      },
    },
    {
      id: 'giveQueryNameSpace',
      status: 409,
      call: async () => {
        const params = { name_space: 'org.again::' };
        const of = request(testApp({ ...WITH_ADMIN, ...TWO }));
        await of.put('/rest/admin/query_owner/org.again::').set('Authorization', OTHER).send({ sub: 'u-1' });
        return two(Promise.resolve({ params, body: { sub: 'u-2' } }));
      },
    },
    { id: 'listApprovals', status: 200, call: () => ({}) },
    { id: 'listApprovals', status: 400, call: () => ({ query: '?fetch=0' }) },
    { id: 'confirmApproval', status: 200, call: async () => ({ params: await waiting(), body: {} }) },
    { id: 'confirmApproval', status: 400, call: async () => ({ params: await waiting(), body: { a: 1 } }) },
    { id: 'confirmApproval', status: 404, call: () => unknown },
    {
      id: 'confirmApproval',
      status: 409,
      call: async () => ({ params: await waiting(), body: { digest: '0'.repeat(64) } }),
    },
    { id: 'withdrawApproval', status: 200, call: async () => ({ params: await waiting(), body: {} }) },
    { id: 'withdrawApproval', status: 400, call: async () => ({ params: await waiting(), body: { a: 1 } }) },
    { id: 'withdrawApproval', status: 404, call: () => unknown },
    { id: 'deleteEhr', status: 202, call: () => two(ehr()) },
    { id: 'deleteComposition', status: 202, call: () => two(composition()) },
    { id: 'deleteComposition', status: 409, call: () => two(again('composition', composition())) },
    { id: 'deleteDirectory', status: 202, call: () => two(directory()) },
    { id: 'deleteDirectory', status: 409, call: () => two(again('directory', directory())) },
    { id: 'moveComposition', status: 202, call: () => two(move()) },
    { id: 'finaliseMerge', status: 202, call: () => two(final()) },
  ];
}
