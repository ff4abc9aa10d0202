import { randomUUID } from 'node:crypto';
import request from 'supertest';
import type { ApiCase } from './cases.js';
import type { World } from './world.js';

const CONTENT = { template_id: 'minimal_evaluation.en.v1', content: { 'minimal/_uid': 'a' } };

/** Cases of drafts. `merged`: an EHR that was merged away. */
export function draftCases(world: World, merged: () => Promise<string>): ApiCase[] {
  const place = async (): Promise<{ ehr_id: string; draft_id: string }> => ({
    ehr_id: await world.ehr(),
    draft_id: randomUUID(),
  });
  const saved = async (): Promise<{ ehr_id: string; draft_id: string }> => {
    const at = await place();
    await request(world.app).put(`/rest/draft/${at.ehr_id}/${at.draft_id}`).send(CONTENT);
    return at;
  };
  const malformed = async (): Promise<{ ehr_id: string; draft_id: string }> => ({
    ...(await place()),
    draft_id: 'mine',
  });
  return [
    {
      id: 'draft_list',
      status: 200,
      call: async () => {
        await saved();
        return {};
      },
    },
    { id: 'draft_get', status: 200, call: async () => ({ params: await saved() }) },
    { id: 'draft_get', status: 400, call: async () => ({ params: await malformed() }) },
    { id: 'draft_get', status: 404, call: async () => ({ params: await place() }) },
    { id: 'draft_save', status: 200, call: async () => ({ params: await place(), body: CONTENT }) },
    { id: 'draft_save', status: 400, call: async () => ({ params: await place(), body: {} }) },
    {
      id: 'draft_save',
      status: 404,
      call: () => ({ params: { ehr_id: randomUUID(), draft_id: randomUUID() }, body: CONTENT }),
    },
    {
      id: 'draft_save',
      status: 409,
      call: async () => ({ params: { ehr_id: await merged(), draft_id: randomUUID() }, body: CONTENT }),
    },
    { id: 'draft_delete', status: 204, call: async () => ({ params: await saved() }) },
    { id: 'draft_delete', status: 400, call: async () => ({ params: await malformed() }) },
    { id: 'draft_delete', status: 404, call: async () => ({ params: await place() }) },
  ];
}
