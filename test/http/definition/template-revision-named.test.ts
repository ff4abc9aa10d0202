import { describe, expect, it } from '@jest/globals';
import request, { type Test } from 'supertest';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { notedDigest, renamedText, RevisedData, revisionTexts } from '../../support/openehr/revised-data.js';
import { optOf, RULE_CASES } from '../../support/openehr/rule-cases.js';
import { givenEhr, V1, versionedObjectUidOf, versionUidOf, type Json } from '../../support/resources.js';
import { ADMIN, WITH_ADMIN } from '../../support/tokens.js';

const TEMPLATES = `${V1}/definition/template/adl1.4`;
const FLAT = 'application/openehr.wt.flat+json';
const STRUCTURED = 'application/openehr.wt.structured+json';
const WEB_TEMPLATE = 'application/openehr.wt+json';
/** Above it a body is read in another thread. */
const LARGE = 300_000;

const data = new RevisedData(testApp({ ...WITH_ADMIN, templateRevisions: true }));

useDatabase();

/** A text of the template that gives itself numbers; `purpose` makes it another text. */
function numbered(id: string, purpose: string, said: Readonly<Record<string, string>> = {}): string {
  const details = Object.entries(said).map(
    ([name, value]) => `<other_details id="${name}">${value}</other_details>`,
  );
  return revisionTexts(id)[0]
    .replace('<purpose>Not Specified', `<purpose>${purpose}`)
    .replace('    <details>', `${details.join('')}<details>`);
}

async function revisionOf(opt: string): Promise<unknown> {
  const { status, body } = await data.upload(opt);
  expect(status).toBe(201);
  return (body as Json).revision;
}

const read = (path: string, accept = 'application/json'): Test =>
  request(data.app).get(`${TEMPLATES}/${path}`).set({ Accept: accept, Authorization: ADMIN });

describe('the number of a revision', () => {
  it('is the one that its OPT gives itself, else counted', async () => {
    const texts = [
      numbered('numbered', 'one', { version: '7' }),
      numbered('numbered', 'two', { version: '7', sem_ver: '2.1.0' }),
      numbered('numbered', 'three', { sem_ver: '2.1.0' }),
      numbered('numbered', 'four'),
      numbered('numbered', 'five', { version: ' 3 ' }),
      numbered('numbered', 'six', { sem_ver: '2.1.0-rc.1+build' }),
    ];
    const numbers: unknown[] = [];
    for (const opt of texts) numbers.push(await revisionOf(opt));
    expect(numbers).toEqual(['7', '2.1.0', '3', '4', '5', '2.1.0-rc.1+build']);
    for (const [index, opt] of texts.entries()) {
      const path = `numbered?revision=${encodeURIComponent(String(numbers[index]))}`;
      expect((await read(path, 'application/xml')).text).toBe(opt);
    }
    const again = await data.upload(texts[1]!);
    expect([again.status, (again.body as Json).revision]).toEqual([200, '2.1.0']);
  });

  it('is counted from 1 where its OPT has none, past those that others gave themselves', async () => {
    expect(await revisionOf(numbered('counted', 'one'))).toBe('1');
    expect(await revisionOf(numbered('counted', 'two', { version: '3' }))).toBe('3');
    expect(await revisionOf(numbered('counted', 'three'))).toBe('4');
  });

  it('stands in the list with the digest of its upload and its time', async () => {
    const begun = Date.now();
    const digests: unknown[] = [];
    for (const opt of revisionTexts('listed')) digests.push(((await data.upload(opt)).body as Json).digest);
    const listed = (await data.get('listed/revisions')).body as Json[];
    expect(listed.map(({ revision, digest }) => [revision, digest])).toEqual([
      ['2', digests[1]],
      ['1', digests[0]],
    ]);
    const times = listed.map(({ uploaded_at: time }) => Date.parse(String(time)));
    expect(times).toEqual(times.toSorted((one, other) => other - one));
    for (const time of times) expect(time >= begun - 1_000 && time <= Date.now() + 1_000).toBe(true);
    expect(listed[0]?.uploaded_at).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  });
});

describe('what a revision asks for', () => {
  it('is its own web template and example', async () => {
    const [first] = revisionTexts('views');
    const { digest } = (await data.upload(first)).body as Json;
    await data.upload(renamedText('views'));
    const views = [
      ['views/webtemplate', WEB_TEMPLATE, '"id":"quantity"', '"id":"mass"'],
      ['views', WEB_TEMPLATE, '"id":"quantity"', '"id":"mass"'],
      ['views/example', FLAT, '/quantity|magnitude"', '/mass|magnitude"'],
      ['views/example', STRUCTURED, '"quantity":', '"mass":'],
      ['views/example', 'application/json', '"quantity"', '"mass"'],
      ['views/example', 'application/xml', 'quantity', 'mass'],
    ] as const;
    for (const [path, accept, old, now] of views)
      for (const [revision, is, isNot] of [
        ['1', old, now],
        [String(digest), old, now],
        ['2', now, old],
        ['', now, old],
      ] as const) {
        const asked = { detail_level: 'complete', ...(revision !== '' && { revision }) };
        const { status, text } = await read(path, accept).query(asked);
        expect([path, accept, revision, status, text.includes(is), text.includes(isNot)]).toEqual([
          ...[path, accept, revision],
          ...[200, true, false],
        ]);
      }
    for (const path of ['views/webtemplate', 'views/example', 'views'])
      expect((await read(`${path}?revision=9`, path === 'views' ? WEB_TEMPLATE : '*/*')).status).toBe(404);
  });

  it('is what its example has, and the newest does not take', async () => {
    const [moved] = RULE_CASES;
    await data.upload(optOf(moved!.before, 'own-example'));
    await data.upload(optOf(moved!.after, 'own-example'));
    const { body } = await read('own-example/example?revision=1&detail_level=complete');
    const send = async (headers: Record<string, string>): Promise<number> => {
      const ehrId = await givenEhr(data.app);
      const sent = request(data.app).post(`${V1}/ehr/${ehrId}/composition`).set(headers);
      return (await sent.send(body as Json)).status;
    };
    expect(await send({})).toBe(422);
    expect(await send({ 'openEHR-TEMPLATE_ID': 'own-example;revision=1' })).toBe(201);
  });
});

describe('a form that names its revision', () => {
  /** Two revisions of a template, digest and FLAT example of the first. */
  async function given(id: string): Promise<{ digest: string; flat: Json; structured: Json }> {
    const { digest } = (await data.upload(revisionTexts(id)[0])).body as { digest: string };
    const example = `${id}/example?detail_level=complete`;
    const [flat, structured] = [await read(example, FLAT), await read(example, STRUCTURED)];
    await data.upload(renamedText(id));
    return { digest, flat: flat.body as Json, structured: structured.body as Json };
  }

  const send = async (
    body: string,
    type: string,
    headers: Record<string, string>,
  ): Promise<request.Response> =>
    request(data.app)
      .post(`${V1}/ehr/${await givenEhr(data.app)}/composition`)
      .set({ 'Content-Type': type, ...headers })
      .send(body);

  it('is judged by it, in FLAT and STRUCTURED, small and large', async () => {
    const { digest, flat, structured } = await given('form');
    for (const [type, content] of [
      [FLAT, flat],
      [STRUCTURED, structured],
    ] as const)
      for (const text of [JSON.stringify(content), JSON.stringify(content) + ' '.repeat(LARGE)]) {
        for (const pin of [
          'form;revision=1',
          'form;revision="1"',
          'form; revision=1',
          `form;revision=${digest}`,
        ]) {
          const made = await send(text, type, { 'openEHR-TEMPLATE_ID': pin });
          expect([pin, made.status, await notedDigest(versionUidOf(made))]).toEqual([pin, 201, digest]);
        }
        for (const [template, message] of [
          ['form', 'quantity'],
          ['form;revision=2', 'quantity'],
          ['form;revision=3', 'has no revision'],
        ] as const) {
          const refused = await send(text, type, { 'openEHR-TEMPLATE_ID': template });
          expect([template, [400, 422].includes(refused.status), refused.text]).toEqual([
            template,
            true,
            expect.stringContaining(message),
          ]);
        }
      }
  });

  it('changes what it wrote by it', async () => {
    const { digest, flat } = await given('changing');
    const pin = { 'openEHR-TEMPLATE_ID': 'changing;revision=1' };
    const ehrId = await givenEhr(data.app);
    const path = `${V1}/ehr/${ehrId}/composition`;
    const made = await request(data.app)
      .post(path)
      .set({ 'Content-Type': FLAT, ...pin })
      .send(JSON.stringify(flat));
    const uid = versionUidOf(made);
    const put = (headers: Record<string, string>): Test =>
      request(data.app)
        .put(`${path}/${versionedObjectUidOf(uid)}`)
        .set({ 'Content-Type': FLAT, 'If-Match': `"${uid}"`, ...headers })
        .send(JSON.stringify(flat));
    expect([400, 422]).toContain((await put({ 'openEHR-TEMPLATE_ID': 'changing' })).status);
    const changed = await put(pin);
    expect([200, 204]).toContain(changed.status);
    expect(await notedDigest(versionUidOf(changed))).toBe(digest);
  });
});
