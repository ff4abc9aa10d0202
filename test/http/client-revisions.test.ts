import { describe, expect, it } from '@jest/globals';
import { Cdr } from '../../packages/client/src/main.js';
import { testApp, useServer } from '../support/app.js';
import { errorOf } from '../support/cdr-error.js';
import { useDatabase } from '../support/database.js';
import {
  IN_GRAMS,
  massIn,
  notedDigest,
  renamedText,
  revisionTexts,
} from '../support/openehr/revised-data.js';
import { ADMIN, WITH_ADMIN } from '../support/tokens.js';

useDatabase();
const server = useServer(testApp({ ...WITH_ADMIN, templateRevisions: true }));
const client = (): Cdr => new Cdr({ url: server.url, token: ADMIN.replace('Bearer ', '') });

/** Two revisions of a template; the second knows grams by another unit, and the quantity by another name. */
async function given(id: string): Promise<Cdr> {
  const cdr = client();
  for (const opt of [revisionTexts(id)[0], renamedText(id)]) expect(await cdr.templates.upload(opt)).toBe(id);
  return cdr;
}

describe('the client, of revisions of a template', () => {
  it('reads each: text, web template and example', async () => {
    const { templates } = await given('client-read');
    const [newest, oldest] = await templates.revisions('client-read');
    for (const revision of ['1', oldest!.digest]) {
      expect(await templates.get('client-read', { revision })).toBe(revisionTexts('client-read')[0]);
      const web = JSON.stringify(await templates.webTemplate('client-read', { revision }));
      expect([web.includes('"quantity"'), web.includes('"mass"')]).toEqual([true, false]);
      const flat = await templates.example('client-read', { format: 'FLAT', revision, detail: 'complete' });
      expect(Object.keys(flat).join()).toContain('/quantity|magnitude');
    }
    expect(await templates.get('client-read')).toBe(renamedText('client-read'));
    expect(JSON.stringify(await templates.webTemplate('client-read'))).toContain('"mass"');
    const flat = await templates.example('client-read', { format: 'FLAT', detail: 'complete' });
    expect(Object.keys(flat).join()).toContain('/mass|magnitude');
    expect([newest!.revision, oldest!.revision]).toEqual(['2', '1']);
    const missing = { revision: '9' };
    for (const call of [
      () => templates.get('client-read', missing),
      () => templates.webTemplate('client-read', missing),
      () => templates.example('client-read', missing),
    ])
      expect(await errorOf(call())).toMatchObject({ status: 404, code: 'not-found' });
  });

  it('compares and removes them', async () => {
    const { templates } = await given('client-compare');
    const between = await templates.compare('client-compare', { from: '1', to: '2' });
    expect(between).toMatchObject({ verdict: 'breaking', stored_queries: [] });
    expect(between.changes.map(({ kind, what }) => [kind, what])).toEqual(
      expect.arrayContaining([['changed', 'units']]),
    );
    expect(await templates.compare('client-compare', { from: '2' })).toMatchObject({ verdict: 'same' });
    const [text] = revisionTexts('client-compare');
    expect(await templates.compare('client-compare', text)).toMatchObject({ verdict: 'breaking' });
    await templates.removeRevision('client-compare', '2');
    expect((await templates.revisions('client-compare')).map(({ revision }) => revision)).toEqual(['1']);
    const only = await errorOf(templates.removeRevision('client-compare', '1'));
    expect(only).toMatchObject({ status: 422 });
  });

  it('commits and changes by the one that is named, in any form', async () => {
    const cdr = await given('Größe');
    const digest = (await cdr.templates.revisions('Größe')).at(-1)?.digest;
    const { compositions } = await cdr.ehr.create();
    const pin = { template: 'Größe', revision: '1' };
    for (const format of ['JSON', 'FLAT', 'STRUCTURED', 'XML'] as const) {
      const content = await cdr.templates.example('Größe', { format, revision: '1', detail: 'complete' });
      const made = await compositions.commit(content, pin);
      expect([format, await notedDigest(made.uid)]).toEqual([format, digest]);
      const changed = await compositions.update(made, content, { ...pin, revision: digest });
      expect([format, await notedDigest(changed.uid)]).toEqual([format, digest]);
    }
    const flat = await cdr.templates.example('Größe', { format: 'FLAT', revision: '1', detail: 'complete' });
    for (const options of [
      { template: 'Größe' },
      { template: 'Größe', revision: '2' },
      { template: 'Größe', revision: '3' },
    ])
      expect([400, 422]).toContain((await errorOf(compositions.commit(flat, options))).status);
    await expect(compositions.commit(flat, { revision: '1' })).rejects.toThrow(TypeError);
  });

  it('lists upgrades, newest first', async () => {
    const cdr = client();
    const { upgrades } = cdr.templates;
    await cdr.templates.upload(revisionTexts('client-upgrades')[0]);
    const { compositions } = await cdr.ehr.create();
    await compositions.commit(massIn('gm', 'client-upgrades'));
    await cdr.templates.upload(revisionTexts('client-upgrades')[1]);
    expect(await upgrades.list('client-upgrades')).toEqual([]);
    const jobs: string[] = [];
    for (let count = 0; count < 2; count += 1) {
      const { hash } = await upgrades.plan('client-upgrades', IN_GRAMS);
      const job = await upgrades.begin('client-upgrades', { ...IN_GRAMS, hash });
      while ((await upgrades.get('client-upgrades', job)).state === 'running');
      jobs.unshift(job);
    }
    const listed = await upgrades.list('client-upgrades');
    expect(listed.map(({ job, state, upgraded }) => [job, state, upgraded])).toEqual([
      [jobs[0], 'done', 0],
      [jobs[1], 'done', 1],
    ]);
    expect(await errorOf(upgrades.list('unknown'))).toMatchObject({ status: 404 });
  });
});
