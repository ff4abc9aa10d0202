import { describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import request from 'supertest';
import { runComparison } from '../../../maintenance/template-comparison.js';
import { sampleTemplate } from '../../../maintenance/template-sample.js';
import { eraseEhr } from '../../../maintenance/erase.js';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { massIn, RevisedData, revisionTexts } from '../../support/openehr/revised-data.js';
import { versionedObjectUidOf, type Json } from '../../support/resources.js';
import { testSettings } from '../../support/settings.js';
import { ADMIN, USER, WITH_ADMIN } from '../../support/tokens.js';

const settings = { ...WITH_ADMIN, templateRevisions: true };
const app = testApp(settings);
const data = new RevisedData(app);

useDatabase();

/** Begins to judge data by an OPT, or a revision. Gives where the job is told of. */
async function begin(id: string, what: string | object, query = 'data=all'): Promise<string> {
  const { status, body } = await data.admin(`${id}/compare?${query}`, what);
  expect([status, body]).toEqual([202, expect.objectContaining({ verdict: expect.any(String) })]);
  return `${id}/compare/${(body as { data: { job: string } }).data.job}`;
}

const jobs = () => mongoose.connection.collection<{ _id: string }>('template_comparisons');
const jobOf = (path: string): string => path.split('/').at(-1) ?? '';

describe('stored data, judged by another template', () => {
  it('are counted with causes and examples, and nothing is stored of it', async () => {
    const [first, second] = revisionTexts('judged');
    await data.upload(first);
    const made = [];
    for (const unit of ['kg', 'gm', 'gm']) made.push(await data.commit(massIn(unit, 'judged')));
    const path = await begin('judged', second);
    const found = await data.settled(path);
    expect(found).toMatchObject({
      ...{ template_id: 'judged', data: 'all', state: 'done', valid: 1, invalid: 2, unproven: 0, others: 0 },
      to: { digest: expect.stringMatching(/^[0-9a-f]{64}$/) },
      started_by: 'root-admin',
    });
    expect(found.causes).toHaveLength(1);
    expect(found.causes[0]).toMatchObject({ count: 2, path: expect.not.stringContaining('[0]') });
    expect(found.causes[0].examples.toSorted()).toEqual([made[1]!.uid, made[2]!.uid].toSorted());
    const kept = await jobs().findOne({ _id: jobOf(path) });
    expect(Object.keys(kept ?? {})).not.toContain('opt');
    expect(((await data.get('judged/revisions')).body as Json[]).length).toBe(1);
    const listed = (await data.get('judged/compare')).body as Json[];
    expect(listed).toMatchObject([{ job: jobOf(path), state: 'done', invalid: 2 }]);
  });

  it('are those of one revision where one is named', async () => {
    await data.given('named', 'gm', 'kg');
    await data.commit(massIn('g', 'named'));
    const found = await data.settled(await begin('named', { from: '1', to: '2' }));
    expect(found).toMatchObject({
      ...{ valid: 1, invalid: 1, others: 1 },
      ...{ from: { revision: '1' }, to: { revision: '2' } },
    });
    expect(await data.settled(await begin('named', {}))).toMatchObject({ valid: 2, invalid: 1, others: 0 });
    // What is judged by what it was judged by is valid.
    const own = await data.settled(await begin('named', { from: '1', to: '1' }));
    expect(own).toMatchObject({ valid: 2, invalid: 0, others: 1 });
  });

  it('are a bounded number of them, each once, where a sample is asked for', async () => {
    const made = await data.given('sampled', ...Array.from({ length: 12 }, () => 'gm'));
    const found = await data.settled(await begin('sampled', {}, 'data=sample'));
    expect(found).toMatchObject({ data: 'sample', valid: 0, invalid: 12 });
    expect(found.causes[0].examples).toHaveLength(10);
    const drawn: string[] = [];
    for await (const { containers } of sampleTemplate('sampled', 7))
      drawn.push(...containers.map(({ _id }) => _id));
    expect([drawn.length, new Set(drawn).size]).toEqual([7, 7]);
    const all = made.map(({ uid }) => versionedObjectUidOf(uid));
    expect(drawn.filter((id) => !all.includes(id))).toEqual([]);
  });

  it('go on where they stood after their process was killed, and are counted once', async () => {
    const made = await data.given('killed', 'gm', 'kg', 'gm');
    const path = await begin('killed', {});
    await data.settled(path);
    const [first] = made.toSorted((one, other) => (one.ehrId < other.ehrId ? -1 : 1));
    // As if it had been killed behind the first COMPOSITION.
    const position = { batch: '', ehr: first!.ehrId, object: versionedObjectUidOf(first!.uid) };
    const counts = { valid: 1, invalid: 0, causes: [] };
    await jobs().updateOne({ _id: jobOf(path) }, { $set: { state: 'running', position, ...counts } });
    await mongoose.connection.collection('template_comparison_examples').deleteMany({});
    expect(((await data.admin('killed/compare?data=all')).body as Json).message).toContain('is not done');
    expect((await data.admin(`${path}/resume`)).status).toBe(200);
    const found = await data.settled(path);
    expect(found).toMatchObject({ state: 'done' });
    const { valid, invalid, reason } = found as Record<string, number | undefined>;
    expect([(valid ?? 0) + (invalid ?? 0), reason]).toEqual([3, undefined]);
    expect((await data.admin(`${path}/resume`)).status).toBe(409);
  });

  it('are judged no further once that is cancelled', async () => {
    await data.given('cancelled', 'gm');
    const path = await begin('cancelled', {});
    await data.settled(path);
    await jobs().updateOne({ _id: jobOf(path) }, { $set: { state: 'running' } });
    expect((await data.admin(`${path}/cancel`)).body).toMatchObject({ state: 'cancelled' });
    await runComparison(testSettings(settings), jobOf(path));
    expect(await data.settled(path)).toMatchObject({ state: 'cancelled', invalid: 1 });
    expect((await data.admin(`${path}/cancel`)).status).toBe(409);
  });

  it('are not told of any more once they are erased', async () => {
    const [gone] = await data.given('erased', 'gm');
    const path = await begin('erased', {});
    expect((await data.settled(path)).causes).toHaveLength(1);
    await eraseEhr(gone!.ehrId, { cascade: true });
    expect(await data.settled(path)).toMatchObject({ invalid: 1, causes: [] });
  });

  it('are seen to be judged by who looks at what goes on', async () => {
    await data.given('seen', 'gm');
    const path = await begin('seen', {});
    await data.settled(path);
    await jobs().updateOne({ _id: jobOf(path) }, { $set: { state: 'running' } });
    const { body } = await request(app).get('/rest/overview').set('Authorization', ADMIN);
    await jobs().updateOne({ _id: jobOf(path) }, { $set: { state: 'done' } });
    expect((body as Json).jobs).toContainEqual(expect.objectContaining({ kind: 'template_comparison' }));
  });

  it('are judged for administrators only, of templates and revisions that are there', async () => {
    await data.given('refused', 'gm');
    const compare = (query: string, body: object, as = ADMIN): request.Test =>
      request(app).post(`/rest/admin/template/refused/compare${query}`).set('Authorization', as).send(body);
    expect((await compare('', {}, USER)).status).toBe(200);
    expect((await compare('?data=all', {}, USER)).status).toBe(403);
    expect((await request(app).post('/rest/admin/template/refused/compare?data=all').send({})).status).toBe(
      401,
    );
    expect((await compare('?data=some', {})).status).toBe(400);
    expect((await compare('?data=all', { to: '9' })).status).toBe(404);
    expect((await data.admin('unknown/compare?data=all')).status).toBe(404);
    const opt = await compare('?data=all', {}).set('Content-Type', 'application/xml').send('<template/>');
    expect(opt.status).toBe(400);
    expect((await data.get('refused/compare')).body).toEqual([]);
  });
});
