import { randomUUID } from 'node:crypto';
import mongoose from 'mongoose';
import request from 'supertest';
import { COLLECTIONS } from '../../../models/access/layout.js';
import { testApp } from '../app.js';
import { ADMIN, WITH_ADMIN } from '../tokens.js';
import type { ApiCase } from './cases.js';
import type { World } from './world.js';

/** Revisions are named in JSON; an OPT is XML. */
const AS_JSON = { 'Content-Type': 'application/json' };

/** Comparisons of templates without data: they are done at once. */
export function comparisonCases(world: World): ApiCase[] {
  const begin = async (): Promise<{ template_id: string; comparison_id: string }> => {
    const { template_id } = await world.template();
    const { body } = await request(testApp(WITH_ADMIN))
      .post(`/rest/admin/template/${template_id}/compare?data=all`)
      .set('Authorization', ADMIN)
      .send({});
    return { template_id, comparison_id: (body as { data: { job: string } }).data.job };
  };
  const inState = async (state: string): Promise<{ template_id: string; comparison_id: string }> => {
    const params = await begin();
    const comparisons = mongoose.connection.collection<{ _id: string }>(COLLECTIONS.templateComparisons);
    while ((await comparisons.countDocuments({ _id: params.comparison_id, state: 'running' })) > 0);
    await comparisons.updateOne({ _id: params.comparison_id }, { $set: { state } });
    return params;
  };
  const unknown = { template_id: 'unknown', comparison_id: randomUUID() };
  return [
    {
      id: 'compareTemplate',
      status: 202,
      call: async () => {
        const { template_id } = await world.template();
        return { params: { template_id }, query: '?data=sample', body: {}, headers: AS_JSON };
      },
    },
    {
      id: 'compareTemplate',
      status: 409,
      call: async () => {
        const { template_id } = await inState('running');
        return { params: { template_id }, query: '?data=all', body: {}, headers: AS_JSON };
      },
    },
    {
      id: 'listTemplateComparisons',
      status: 200,
      call: async () => ({ params: { template_id: (await begin()).template_id } }),
    },
    { id: 'listTemplateComparisons', status: 404, call: () => ({ params: unknown }) },
    { id: 'getTemplateComparison', status: 200, call: async () => ({ params: await begin() }) },
    { id: 'cancelTemplateComparison', status: 200, call: async () => ({ params: await inState('running') }) },
    { id: 'resumeTemplateComparison', status: 200, call: async () => ({ params: await inState('stopped') }) },
    ...['getTemplateComparison', 'cancelTemplateComparison', 'resumeTemplateComparison'].map(
      (id): ApiCase => ({ id, status: 404, call: () => ({ params: unknown }) }),
    ),
    ...['cancelTemplateComparison', 'resumeTemplateComparison'].map((id): ApiCase => ({
      id,
      status: 409,
      call: async () => ({ params: await inState('done') }),
    })),
  ];
}
