import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Settings } from '../../../config/settings.js';
import jwt from 'jsonwebtoken';
import { aql, Cdr, type CdrOptions, type Ehr, type Flat } from '../../../packages/client/src/main.js';
import { testApp, useServer } from '../app.js';
import { useDatabase } from '../database.js';
import { errorOf } from '../cdr-error.js';
import { fixtureText } from '../fixture.js';
import { everythingOn, TEST_JWT_SECRET } from '../settings.js';

const TEMPLATE = 'minimal_observation.en.v1';
const MAGNITUDE = 'o/data[at0001]/events[at0002]/data[at0003]/items[at0004]/value';

/** What the client does with a server of an edition of ITS-REST. */
export function clientSuite(edition: string, settings: Partial<Settings>): void {
  let cdr: Cdr;
  let connection: CdrOptions;
  let ehr: Ehr;
  let flat: Flat;

  useDatabase();
  const server = useServer(testApp(everythingOn(settings)));
  beforeAll(async () => {
    const token = (): string =>
      jwt.sign({ preferred_username: 'root', roles: ['ADMIN', 'USER', 'AUDITOR'] }, TEST_JWT_SECRET, {
        subject: 'root',
        expiresIn: 600,
      });
    connection = { url: server.url, token };
    cdr = new Cdr(connection);
    expect(await cdr.templates.upload(fixtureText(`opt/${TEMPLATE}.opt`))).toBe(TEMPLATE);
    flat = await cdr.templates.example(TEMPLATE, { format: 'FLAT', detail: 'complete' });
    ehr = await cdr.ehr.create({ subject: { id: 'p1', namespace: 'hospital' } });
  });

  describe('an EHR', () => {
    it('is found by its subject, and not by another', async () => {
      expect((await cdr.ehr.find({ id: 'p1', namespace: 'hospital' }))?.id).toBe(ehr.id);
      expect(await cdr.ehr.find({ id: 'p2', namespace: 'hospital' })).toBeUndefined();
      expect((await ehr.get()).ehr_id.value).toBe(ehr.id);
      expect(await errorOf(cdr.ehr.create({ subject: { id: 'p1', namespace: 'hospital' } }))).toMatchObject({
        status: 409,
        code: expect.any(String),
        requestId: expect.any(String),
      });
    });

    it('takes an id of its own, and a changed status', async () => {
      const id = '1f2d3c4b-5a69-4788-8990-a1b2c3d4e5f6';
      const own = await cdr.ehr.create({ id });
      expect(own.id).toBe(id);
      await own.status.update((status) => ({ ...status, is_queryable: false }));
      expect((await own.status.get()).is_queryable).toBe(false);
      const [first] = await own.status.history();
      expect((await own.status.get({ version: first?.uid })).is_queryable).toBe(true);
      expect((await own.status.history()).map(({ number, change }) => [number, change])).toEqual([
        [1, 'creation'],
        [2, 'modification'],
      ]);
    });
  });

  describe('an erasure', () => {
    it('is recorded with why, and who asked for it', async () => {
      const gone = await cdr.ehr.create();
      await cdr.admin.deleteEhr(gone.id, { reason: 'a wish', requestedBy: 'ward 3' });
      const [record] = await cdr.admin.audit({ operation: 'deleteEhr', ehrId: gone.id });
      expect(record).toMatchObject({ reason: 'a wish', options: { requested_by: 'ward 3' } });
    });
  });

  describe('a COMPOSITION', () => {
    it('is committed in FLAT, read in each form, changed, compared and deleted', async () => {
      const first = await ehr.compositions.commit(flat, {
        template: TEMPLATE,
        audit: { 'committer.name': 'Ádá "A" Żółć 李', 'description.value': 'first' },
        tags: [{ key: 'ward', value: 'Süd-östlich ż' }],
      });
      expect(first.uid).toMatch(/::1$/);
      expect(await ehr.compositions.tags(first.id)).toMatchObject([{ key: 'ward', value: 'Süd-östlich ż' }]);
      const canonical = await ehr.compositions.get(first.id);
      expect(canonical?.content._type).toBe('COMPOSITION');
      expect((await ehr.compositions.get(first.uid, { format: 'XML' }))?.content).toContain('<composition');
      const read = await ehr.compositions.get(first.id, { format: 'FLAT' });
      const second = await ehr.compositions.update(first, read?.content ?? {}, { template: TEMPLATE });
      expect(second.uid).toMatch(/::2$/);
      const third = await ehr.compositions.update(first.id, (content) => ({
        ...content,
        name: { _type: 'DV_TEXT', value: content.name.value },
        composer: { _type: 'PARTY_IDENTIFIED', name: 'Bo Lind' },
      }));
      expect(third.uid).toMatch(/::3$/);
      expect(await ehr.compositions.diff(second.uid, third.uid)).toEqual(
        expect.arrayContaining([expect.objectContaining({ path: '/composer/name', after: 'Bo Lind' })]),
      );
      expect(await ehr.compositions.diff(first.uid)).toEqual(
        await ehr.compositions.diff(first.uid, third.uid),
      );
      const history = await ehr.compositions.history(third.uid);
      expect(history).toMatchObject([
        { number: 1, committer: 'Ádá "A" Żółć 李', description: 'first', change: 'creation' },
        { number: 2 },
        { number: 3, uid: third.uid },
      ]);
      expect((await ehr.compositions.at(first.uid, history[1]?.time ?? ''))?.uid).toBe(second.uid);
      expect((await ehr.compositions.version(second.uid)).commit_audit.change_type.value).toBe(
        'modification',
      );
      expect((await ehr.compositions.list()).map(({ uid }) => uid)).toContain(third.uid);

      const stale = await errorOf(ehr.compositions.update(first, flat, { template: TEMPLATE }));
      expect(stale).toMatchObject({ status: 412, latestVersion: third.uid });
      await ehr.compositions.delete(third.uid);
      expect(await ehr.compositions.get(first.id)).toBeUndefined();
    });

    it('is changed by a function by many at once, and no change is lost', async () => {
      const { id } = await ehr.compositions.commit(flat, { template: TEMPLATE });
      const change = (name: string) =>
        ehr.compositions.update(id, (content) => ({
          ...content,
          composer: {
            _type: 'PARTY_IDENTIFIED',
            name: `${'name' in content.composer ? (content.composer.name ?? '') : ''}+${name}`,
          },
        }));
      await Promise.all(['a', 'b', 'c'].map(change));
      const composer = (await ehr.compositions.get(id))?.content.composer;
      for (const name of ['+a', '+b', '+c'])
        expect(composer).toMatchObject({ name: expect.stringContaining(name) });
    });

    it('that is invalid tells all that is wrong with it', async () => {
      const content = await cdr.templates.example(TEMPLATE, { detail: 'complete' });
      const [entry] = content.content ?? [];
      if (entry) entry.archetype_node_id = 'openEHR-EHR-OBSERVATION.no_such.v1';
      const error = await errorOf(ehr.compositions.commit(content));
      expect([400, 422]).toContain(error.status);
      expect(error.violations.length).toBeGreaterThan(0);
      expect(error.violations.some(({ path }) => path.startsWith('/'))).toBe(true);
      expect(error.message).not.toBe('');
    });
  });

  describe('AQL', () => {
    beforeAll(async () => {
      for (let count = 0; count < 5; count += 1) await ehr.compositions.commit(flat, { template: TEMPLATE });
    });

    it('gives rows as objects, and its values are never text of the query', async () => {
      const name = "x' OR '1'='1";
      const none = await cdr.aql`SELECT c/uid/value AS uid FROM COMPOSITION c WHERE c/name/value = ${name}`;
      expect(none.rows).toEqual([]);
      const wanted = ['no', TEMPLATE];
      const { rows, columns } = await cdr.aql<{ uid: string; n: string | null }>`
        SELECT c/uid/value AS uid, c/name/value AS n
        FROM EHR e[ehr_id/value=${ehr.id}] CONTAINS COMPOSITION c
        WHERE c/archetype_details/template_id/value MATCHES {${wanted}} LIMIT ${3}`;
      expect(columns.map((column) => column.name)).toEqual(['uid', 'n']);
      expect(rows).toHaveLength(3);
      expect(rows[0]?.uid).toMatch(/::\d+$/);
    });

    it('is run with parameters, in pages, and as a stream', async () => {
      const from = aql`FROM EHR e[ehr_id/value=${ehr.id}] CONTAINS COMPOSITION c`;
      const query = aql`SELECT c/uid/value AS uid ${from} ORDER BY c/uid/value`;
      const all = (await cdr.query<{ uid: string }>(query)).rows.map(({ uid }) => uid);
      expect(all.length).toBeGreaterThan(4);
      const paged: string[] = [];
      const sizes: number[] = [];
      for await (const { rows } of cdr.pages<{ uid: string }>(query, { fetch: 2 })) {
        sizes.push(rows.length);
        paged.push(...rows.map(({ uid }) => uid));
      }
      expect(paged).toEqual(all);
      expect(Math.max(...sizes)).toBe(2);
      const streamed: string[] = [];
      for await (const { uid } of cdr.stream<{ uid: string }>(query)) streamed.push(uid);
      expect(streamed).toEqual(all);
      for await (const { uid } of cdr.aql<{ uid: string }>`${query}`) {
        expect(uid).toBe(all[0]);
        break;
      }
    });

    it('is stored, run by name, explained, and refused with its position', async () => {
      const q = `SELECT ${MAGNITUDE} AS v FROM EHR e CONTAINS OBSERVATION o WHERE e/ehr_id/value = $ehr`;
      expect(await cdr.queries.store('clinic::values', q)).toBe('1.0.0');
      expect((await cdr.queries.list('clinic::values')).map(({ version }) => version)).toEqual(['1.0.0']);
      expect((await cdr.queries.get('clinic::values', '1')).q).toBe(q);
      const parameters = { ehr: ehr.id };
      const { rows } = await cdr.runStored('clinic::values', { version: '1', parameters });
      expect(rows.length).toBeGreaterThan(0);
      let streamed = 0;
      for await (const row of cdr.streamStored('clinic::values', { parameters }))
        streamed += Object.keys(row).length;
      expect(streamed).toBe(rows.length);
      expect(Object.keys(await cdr.explain(q, { parameters }))).toContain('pipeline');
      const wrong = await errorOf(cdr.query('SELECT e FORM EHR e'));
      expect(wrong.message).toMatch(/FROM/);
      expect(wrong.violations[0]).toMatchObject({ line: 1, column: expect.any(Number) });
    });

    it('ends a stream, and a call, by its signal', async () => {
      const signal = AbortSignal.abort(new Error('left'));
      await expect(cdr.query('SELECT e FROM EHR e', { signal })).rejects.toThrow('left');
      const controller = new AbortController();
      const stream = cdr.stream('SELECT c FROM EHR e CONTAINS COMPOSITION c', { signal: controller.signal });
      await stream.next();
      controller.abort(new Error('enough'));
      await expect(stream.next()).rejects.toThrow('enough');
    });
  });

  describe('a change whose answer is lost', () => {
    it('is made once, and the client is given the answer that was lost', async () => {
      let loses = true;
      const losing: typeof fetch = async (input, init) => {
        const answer = await fetch(input, init);
        if (!loses) return answer;
        loses = false;
        await answer.body?.cancel();
        throw new TypeError('socket closed');
      };
      const unlucky = new Cdr({ ...connection, fetch: losing }).ehr(ehr.id);
      const once = async <T>(change: () => Promise<T>): Promise<T> => {
        loses = true;
        const made = await change();
        expect(loses).toBe(false);
        return made;
      };
      const first = await once(() => unlucky.compositions.commit(flat, { template: TEMPLATE }));
      const second = await once(() => unlucky.compositions.update(first.uid, flat, { template: TEMPLATE }));
      expect(second.uid).toBe(first.uid.replace(/1$/, '2'));
      await once(() => unlucky.compositions.delete(second.uid));
      expect(await ehr.compositions.history(first.id)).toHaveLength(3);
      const status = await ehr.status.history();
      await once(() => unlucky.status.update((stored) => ({ ...stored, is_queryable: true })));
      expect(await ehr.status.history()).toHaveLength(status.length + 1);
    });
  });

  describe('the rest of a server', () => {
    it('has directories, contributions, tags and templates', async () => {
      const root = {
        _type: 'FOLDER',
        archetype_node_id: 'openEHR-EHR-FOLDER.generic.v1',
        name: { _type: 'DV_TEXT', value: 'root' },
      } as const;
      const made = await ehr.directory.create({ ...root });
      const next = await ehr.directory.update(made.uid, {
        ...root,
        folders: [{ ...root, name: { _type: 'DV_TEXT', value: 'a' } }],
      });
      expect((await ehr.directory.get({ path: 'a' }))?.content.name.value).toBe('a');
      expect((await ehr.directory.get({ version: made.uid }))?.content.folders).toBeUndefined();
      await ehr.directory.delete(next.uid);
      expect(await ehr.directory.get()).toBeUndefined();

      const { contribution } = await ehr.compositions.version(
        (await ehr.compositions.commit(flat, { template: TEMPLATE, tags: [{ key: 'k' }] })).uid,
      );
      expect((await ehr.contributions.get(contribution.id.value)).versions).toHaveLength(1);
      const tags = await ehr.tags.list({ key: 'k' });
      expect(tags.map(({ key, target, owner_id: owner }) => [key, target._type, owner.id.value])).toEqual([
        ['k', 'HIER_OBJECT_ID', ehr.id],
      ]);
      expect((await cdr.templates.list()).map(({ template_id }) => template_id)).toEqual([TEMPLATE]);
      expect((await cdr.templates.webTemplate(TEMPLATE)).tree.rmType).toBe('COMPOSITION');
      expect(await cdr.templates.get(TEMPLATE)).toContain('<template');
      expect(await cdr.templates.list({ template_id: 'no*' })).toEqual([]);
    });

    it('has merges, an audit and administration', async () => {
      const [source, target] = [await cdr.ehr.create(), await cdr.ehr.create()];
      await source.compositions.commit(flat, { template: TEMPLATE });
      const pair = { source_ehr: source.id, target_ehr: target.id };
      const plan = await cdr.admin.merges.preview({ ...pair, reversible: true });
      expect(plan.outcome.summary).toMatch(/^DRY RUN/);
      await cdr.admin.merges.merge({ ...pair, reversible: true });
      expect(await cdr.admin.merges.target(source.id)).toBe(target.id);
      expect(await cdr.admin.merges.list({ source: source.id })).toHaveLength(1);
      expect((await cdr.admin.merges.details(source.id, target.id)).target_ehr).toBe(target.id);
      expect(await target.compositions.list()).toHaveLength(1);
      await cdr.admin.merges.undo({ ...pair, on_conflict: 'take_back', reason: 'the wrong one' });
      expect(await cdr.admin.merges.list({ source: source.id, undone: true })).toHaveLength(1);
      expect(await target.compositions.list()).toHaveLength(0);
      expect((await cdr.admin.audit({ operation: 'mergeEhrs' })).length).toBeGreaterThan(0);
      expect((await cdr.admin.access(source.id)).length).toBeGreaterThan(0);
      const report = await cdr.admin.accessReport(source.id, { language: 'de', fetch: 1 });
      expect(report).toMatchObject({ entries: [{ what: expect.any(String) }], next: expect.any(String) });
      const older = await cdr.admin.accessReport(source.id, { after: report.next });
      expect(older.entries.length).toBeGreaterThan(0);
      const first = await cdr.admin.auditEvents({ order: 'oldest', fetch: 2 });
      const second = await cdr.admin.auditEvents({ order: 'oldest', fetch: 2, after: first.next });
      const ids = [...first.events, ...second.events].map(({ id }) => id);
      expect([first.events.length, new Set(ids).size]).toEqual([2, ids.length]);
      expect(Object.keys(await cdr.admin.seal())).toContain('head');
      await cdr.admin.deleteEhr(source.id);
      expect(await errorOf(source.get())).toMatchObject({ status: 404 });
    });

    it('finds EHRs that may be of one person, of one EHR and page by page', async () => {
      const one = await cdr.ehr.create({ subject: { id: '4711', namespace: 'clinic' } });
      const other = await cdr.ehr.create({ subject: { id: '4711', namespace: 'hospital' } });
      const pair = [one.id, other.id].toSorted();
      const ofOne = await cdr.admin.merges.candidates({ ehrId: one.id });
      expect(ofOne.candidates).toMatchObject([
        {
          ehr_id: one.id,
          other_ehr_id: other.id,
          reasons: [{ code: 'subject_id', value: '4711', shared_by: 2 }],
        },
      ]);
      const found: string[][] = [];
      let page = await cdr.admin.merges.candidates({ fetch: 1 });
      for (;;) {
        found.push(...page.candidates.map((each) => [each.ehr_id, each.other_ehr_id]));
        if (page.next === undefined) break;
        page = await cdr.admin.merges.candidates({ fetch: 1, after: page.next });
      }
      expect(found).toEqual([pair]);
    });

    it('tells how it is, and answers operations that have no method', async () => {
      expect(await cdr.health()).toMatchObject({ status: 'UP' });
      expect(Object.keys(await cdr.status())).toContain('openehr_rm_version');
      const { body } = await cdr.request('OPTIONS', '/rest/openehr/v1');
      expect(body).toMatchObject({ solution: 'everchart', restapi_specs_version: edition });
      const version = await (await cdr.fetch(`${cdr.url}/rest/status`)).json();
      expect(version).toMatchObject({ version: expect.stringMatching(/^\d/) });
    });
  });
}
