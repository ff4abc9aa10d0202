import type { RequestListener, ServerResponse } from 'node:http';
import { beforeAll, expect, it } from '@jest/globals';
import jwt from 'jsonwebtoken';
import { aql, Cdr } from '../../packages/client/src/main.js';
import { testApp, useServer } from '../support/app.js';
import { useDatabase } from '../support/database.js';
import { errorOf } from '../support/cdr-error.js';
import { fixtureText } from '../support/fixture.js';
import { everythingOn, TEST_JWT_SECRET } from '../support/settings.js';

const TEMPLATE = 'minimal_observation.en.v1';
const V1 = '/rest/openehr/v1';

/** Addresses of EHRbase that the client calls where its table says that EHRbase offers an operation. */
const OFFERED = [
  /^\/ehr(\/[^/]+)?$/,
  /^\/ehr\/[^/]+\/(versioned_)?(ehr_status|composition)(\/(?!.*tag).*)?$/,
  /^\/ehr\/[^/]+\/(directory|contribution)(\/[^/]+)?$/,
  /^\/definition\/template\/adl1\.4(\/[^/]+(\/example)?)?$/,
  /^\/definition\/query(\/[^/]+){0,2}$/,
  /^\/query\/(?!aql\/)[^/]+(\/[^/]+)?$/,
];
const ADMIN =
  /^\/rest\/(status|admin\/(ehr\/[^/]+(\/(composition|directory)\/[^/]+)?|template\/[^/]+|query\/[^/]+\/[^/]+))$/;
/** Request headers that EHRbase does not know, or does nothing by. */
const UNKNOWN = ['idempotency-key', 'x-request-id', 'if-none-match'];
const ANSWERED = ['content-type', 'etag', 'location', 'last-modified'];

/** The server as far as EHRbase is one: fewer operations, plain errors, no headers of ours. */
function asEhrbase(app: RequestListener): RequestListener {
  return (request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://localhost');
    const isOffered =
      ADMIN.test(pathname) ||
      (pathname.startsWith(`${V1}/`) && OFFERED.some((one) => one.test(pathname.slice(V1.length))));
    if (!isOffered || /ndjson/.test(request.headers.accept ?? '')) {
      response.writeHead(isOffered ? 406 : 404, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: 'Not Found', message: `No resource found at path: ${pathname}` }));
      return;
    }
    for (const name of UNKNOWN) Reflect.deleteProperty(request.headers, name);
    const setHeader = response.setHeader.bind(response);
    response.setHeader = (name, value) =>
      ANSWERED.includes(name.toLowerCase()) || name.toLowerCase().startsWith('content-')
        ? setHeader(name, value)
        : response;
    const end = response.end.bind(response) as (...args: unknown[]) => ServerResponse;
    response.end = ((...args: unknown[]) => {
      const isError = response.statusCode >= 400 && /json/.test(String(response.getHeader('content-type')));
      if (!isError) return end(...args);
      const { error, message } = JSON.parse(String(args[0])) as Record<string, unknown>;
      response.removeHeader('content-length');
      return end(JSON.stringify({ error, message }), 'utf8');
    }) as typeof response.end;
    app(request, response);
  };
}

useDatabase();
const server = useServer(asEhrbase(testApp(everythingOn())));
let cdr: Cdr;
beforeAll(() => {
  const claims = { preferred_username: 'root', roles: ['ADMIN', 'USER'] };
  cdr = new Cdr({
    url: server.url,
    token: () => jwt.sign(claims, TEST_JWT_SECRET, { subject: 'root', expiresIn: 600 }),
  });
});

it('needs nothing for the operations of its table that EHRbase does not offer', async () => {
  expect(await cdr.templates.upload(fixtureText(`opt/${TEMPLATE}.opt`))).toBe(TEMPLATE);
  expect((await cdr.templates.list()).map(({ template_id }) => template_id)).toEqual([TEMPLATE]);
  expect((await cdr.templates.webTemplate(TEMPLATE)).tree.rmType).toBe('COMPOSITION');
  const flat = await cdr.templates.example(TEMPLATE, { format: 'FLAT', detail: 'complete' });

  const ehr = await cdr.ehr.create({ subject: { id: 'p1', namespace: 'hospital' } });
  expect((await cdr.ehr.find({ id: 'p1', namespace: 'hospital' }))?.id).toBe(ehr.id);
  expect((await ehr.get()).ehr_id.value).toBe(ehr.id);
  await ehr.status.update((status) => ({ ...status, is_queryable: true }));
  expect(await ehr.status.history()).toHaveLength(2);

  const first = await ehr.compositions.commit(flat, {
    template: TEMPLATE,
    audit: { 'committer.name': 'Ada Moe' },
  });
  const second = await ehr.compositions.update(first, (content) => ({
    ...content,
    composer: { _type: 'PARTY_IDENTIFIED', name: 'Bo Lind' },
  }));
  expect((await ehr.compositions.get(first.id))?.uid).toBe(second.uid);
  expect(await ehr.compositions.diff(first.uid, second.uid)).toContainEqual(
    expect.objectContaining({ path: '/composer/name', after: 'Bo Lind' }),
  );
  const history = await ehr.compositions.history(first.id);
  expect(history).toMatchObject([{ number: 1, committer: 'Ada Moe' }, { number: 2 }]);
  expect((await ehr.compositions.at(first.id, history[0]?.time ?? ''))?.uid).toBe(first.uid);
  expect((await ehr.compositions.list()).map(({ uid }) => uid)).toEqual([second.uid]);
  const { contribution } = await ehr.compositions.version(second.uid);
  expect((await ehr.contributions.get(contribution.id.value)).versions).toHaveLength(1);
  await ehr.directory.create({
    _type: 'FOLDER',
    archetype_node_id: 'openEHR-EHR-FOLDER.generic.v1',
    name: { _type: 'DV_TEXT', value: 'root' },
  });
  expect((await ehr.directory.get())?.content.name.value).toBe('root');

  const query = aql`SELECT c/uid/value AS uid FROM EHR e[ehr_id/value=${ehr.id}] CONTAINS COMPOSITION c`;
  expect((await cdr.query<{ uid: string }>(query)).rows).toEqual([{ uid: second.uid }]);
  for await (const { rows } of cdr.pages(query, { fetch: 1 })) expect(rows.length).toBeLessThan(2);
  await cdr.queries.store('clinic::all', 'SELECT c/uid/value AS uid FROM COMPOSITION c');
  expect((await cdr.runStored('clinic::all')).rows).toEqual([{ uid: second.uid }]);

  await ehr.compositions.delete(second.uid);
  expect(await ehr.compositions.get(first.id)).toBeUndefined();
  expect(Object.keys(await cdr.status())).not.toEqual([]);
  await cdr.admin.deleteEhr(ehr.id);
});

it('reads plain errors, and says what a server does not offer', async () => {
  const ehr = await cdr.ehr.create();
  const unknown = await errorOf(ehr.compositions.commit({}, { template: 'no' }));
  expect(unknown).toMatchObject({ status: 422, code: expect.stringMatching(/./), violations: [] });
  expect(await errorOf(cdr.explain('SELECT e FROM EHR e'))).toMatchObject({ status: 404 });
  const rows = cdr.stream('SELECT e/ehr_id/value AS id FROM EHR e');
  expect((await errorOf(rows.next())).status).toBe(406);
});
