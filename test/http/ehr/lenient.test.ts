import { beforeAll, describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import request from 'supertest';
import type { JsonObject } from '../../../openehr/base/json.js';
import { withoutAttributes } from '../../../openehr/rm/access.js';
import { readRm } from '../../../openehr/rm/read.js';
import { verifyStorage } from '../../../maintenance/verify.js';
import { testApp } from '../../support/app.js';
import { archieXml, ARCHIE_STYLES } from '../../support/openehr/archie.js';
import { useDatabase } from '../../support/database.js';
import { fixtureText } from '../../support/fixture.js';
import { admin, merge } from '../../support/merge-http.js';
import {
  aComposition,
  dump,
  givenEhr,
  givenTemplate,
  V1,
  versionedObjectUidOf,
  versionUidOf,
  type Json,
} from '../../support/resources.js';
import { ADMIN, bearer, USER, WITH_ADMIN } from '../../support/tokens.js';

/** What other servers accept against the rules (docs/spec/formats.md#lenient-validation). */
const strict = testApp(WITH_ADMIN);
const app = testApp({ ...WITH_ADMIN, validation: 'lenient', adminAllowDeleteAll: true });
const ALL_TYPES = 'test_all_types.en.v1';
const FORMALISMS = 'formalisms.en.v1';
let ehrId = '';
useDatabase();
beforeAll(async () => {
  for (const name of [ALL_TYPES, 'minimal_observation.en.v1', 'minimal_evaluation.en.v1'])
    await givenTemplate(app, name);
  const uploaded = await request(app)
    .post(`${V1}/definition/template/adl1.4`)
    .set('Content-Type', 'application/xml')
    .send(withFormalisms(fixtureText(`opt/${ALL_TYPES}.opt`)));
  expect(uploaded.status).toBe(201);
  ehrId = await givenEhr(app);
});

/** The template with a list of formalisms for its DV_PARSABLE. */
function withFormalisms(opt: string): string {
  const one = '<lower_included>true</lower_included><upper_included>true</upper_included>';
  const once = `${one}<lower_unbounded>false</lower_unbounded><upper_unbounded>false</upper_unbounded><lower>1</lower><upper>1</upper>`;
  const list = `<attributes xsi:type="C_SINGLE_ATTRIBUTE"><rm_attribute_name>formalism</rm_attribute_name><existence>${once}</existence><children xsi:type="C_PRIMITIVE_OBJECT"><rm_type_name>STRING</rm_type_name><occurrences>${once}</occurrences><node_id/><item xsi:type="C_STRING"><list>text/plain</list></item></children></attributes>`;
  return opt
    .replaceAll(ALL_TYPES, FORMALISMS)
    .replace(/(<rm_type_name>DV_PARSABLE<\/rm_type_name>[\s\S]*?<node_id\s*\/>)/, `$1${list}`);
}

/** With `_type` everywhere, as Archie needs it, and without what is unknown. */
function typed(composition: Json): JsonObject {
  const { object, violations } = readRm(composition, 'COMPOSITION', '', []);
  expect(violations).toEqual([]);
  return object ?? {};
}

interface Sent {
  readonly body: string | object;
  readonly type?: string;
  readonly token?: string;
  readonly server?: typeof app;
  readonly prefer?: string;
  readonly key?: string;
}

const LENIENT = 'validation=lenient';

function send(method: 'post' | 'put', path: string, sent: Sent, ifMatch = ''): request.Test {
  const { body, type = 'application/json', token = ADMIN, server = app, prefer = LENIENT, key } = sent;
  const headers: Record<string, string> = { 'Content-Type': type, Prefer: prefer };
  if (token !== '') headers['Authorization'] = token;
  if (ifMatch !== '') headers['If-Match'] = ifMatch;
  if (key !== undefined) headers['Idempotency-Key'] = key;
  return request(server)[method](`${V1}${path}`).set(headers).send(body);
}

const post = (sent: Sent, tail = 'composition') => send('post', `/ehr/${ehrId}/${tail}`, sent);

function allTypes(change: (composition: Json) => void): Json {
  const composition = aComposition(ALL_TYPES);
  change(composition);
  return composition;
}

const media = (composition: Json): Json => composition['content'][0].data.events[0].data.items[12].value;
/** Real, but for an ELEMENT that holds nothing. */
function feederAudit(): Json {
  const composition = aComposition(`${ALL_TYPES}.feeder-audit`);
  composition['content'][1].data.items[0].value = { _type: 'DV_URI', value: 'urn:x' };
  return composition;
}
const SYSTEM_AUDIT = 'feeder_system_audit';
const relationship = () => fixtureText('xml/minimal_observation.en.v1.xml');

function participation(attribute: 'mode' | 'function', code: string, value: string): Json {
  const term = (code_string: string, text: string) => ({
    _type: 'DV_CODED_TEXT',
    value: text,
    defining_code: { terminology_id: { value: 'openehr' }, code_string },
  });
  const coded = { [attribute]: term(code, value) };
  const given = { function: { _type: 'DV_TEXT', value: 'nurse' }, ...coded };
  return allTypes(({ context }) => {
    context.participations = [{ performer: { _type: 'PARTY_IDENTIFIED', name: 'Ada' }, ...given }];
  });
}

interface Case {
  readonly sent: Sent;
  readonly strictStatus: number;
  /** Of the findings: path, and a part of the message. */
  readonly findings: readonly (readonly [string, string])[];
}

const CASES: Readonly<Record<string, Case>> = {
  'a DV_TEXT in place of a DV_URI': {
    sent: {
      body: allTypes(({ content }) => {
        content[1].data.items[0].value = { _type: 'DV_TEXT', value: 'see "there"' };
      }),
    },
    strictStatus: 422,
    findings: [['/content[1]/data/items[0]/value', 'Object should be type DV_URI, but was DV_TEXT']],
  },
  'a media_type that no list has': {
    sent: { body: allTypes((composition) => (media(composition)['media_type'].code_string = 'image/own')) },
    strictStatus: 422,
    findings: [
      ['/content[0]/data/events[0]/data/items[12]/value', 'Media_type_valid'],
      ['/content[0]/data/events[0]/data/items[12]/value/media_type', 'image/own'],
    ],
  },
  'a date with a part that the pattern of the template forbids': {
    sent: {
      body: allTypes((composition) => {
        const section = composition['content'][2].items[0].items[0].items[0];
        section.activities[0].description.items[0].value.value = '2019-01-14';
      }),
    },
    strictStatus: 422,
    findings: [
      [
        '/content[2]/items[0]/items[0]/items[0]/activities[0]/description/items[0]/value',
        'The value 2019-01-14 must be yyyy-??-XX',
      ],
    ],
  },
  'a root of another archetype than the template has': {
    sent: {
      body: allTypes((composition) => {
        const other = 'openEHR-EHR-COMPOSITION.other.v1';
        composition['archetype_node_id'] = other;
        composition['archetype_details'].archetype_id.value = other;
      }),
    },
    strictStatus: 422,
    findings: [['/', 'openEHR-EHR-COMPOSITION.test_all_types.v1']],
  },
  'a formalism that the template does not list': {
    sent: {
      body: JSON.stringify(aComposition(ALL_TYPES)).replaceAll(`"${ALL_TYPES}"`, `"${FORMALISMS}"`),
    },
    strictStatus: 422,
    findings: [['/content[0]/data/events[0]/data/items[13]/value', 'ISO8601']],
  },
  'unknown attributes': {
    sent: { body: feederAudit() },
    strictStatus: 400,
    findings: [
      ['/content[2]/items[0]/items[0]/items[0]', SYSTEM_AUDIT],
      ['/content[2]/items[0]/items[1]', SYSTEM_AUDIT],
    ],
  },
  'a relationship with a typing error, in XML': {
    sent: { body: relationship(), type: 'application/xml' },
    strictStatus: 422,
    findings: [['/context/participations[0]/performer/relationship', 'supplied value [bother]']],
  },
  'a mode with another rubric': {
    sent: { body: participation('mode', '216', 'face to face') },
    strictStatus: 422,
    findings: [['/context/participations[0]/mode', 'supplied value [face to face]']],
  },
  'a function with another rubric': {
    sent: { body: participation('function', '253', 'unknwon') },
    strictStatus: 422,
    findings: [['/context/participations[0]/function', 'supplied value [unknwon]']],
  },
};

const warningsOf = (response: request.Response): string => response.headers['warning'] ?? '';

async function storedFindings(uid: string): Promise<Json[]> {
  const doc = await mongoose.connection.collection<Json>('versions').findOne({ _id: uid } as object);
  return (doc?.['validation_findings'] as Json[] | undefined) ?? [];
}

describe.each(Object.entries(CASES))('%s', (_, { sent, strictStatus, findings }) => {
  it('is refused unless the setting allows it, an administrator is there, and he asks', async () => {
    const before = await dump();
    expect((await post({ ...sent, prefer: 'return=minimal' })).status).toBe(strictStatus);
    const ignored = await post({ ...sent, server: strict });
    expect(ignored.status).toBe(strictStatus);
    expect(warningsOf(ignored)).toContain('Prefer: validation=lenient was ignored');
    expect((await post({ ...sent, token: USER })).status).toBe(403);
    expect((await post({ ...sent, token: '' })).status).toBe(401);
    expect(await dump()).toBe(before);
  });

  it('is accepted, told in headers, stored with the VERSION and shown by verify', async () => {
    const response = await post(sent);
    expect([response.status, response.text]).toEqual([201, '']);
    expect(response.headers['preference-applied']).toBe(LENIENT);
    const uid = versionUidOf(response);
    const stored = await storedFindings(uid);
    expect(stored.map(({ path, message }) => [path, message])).toEqual(
      findings.map(([path, message]) => [path, expect.stringContaining(message)]),
    );
    for (const [path] of findings) expect(warningsOf(response)).toContain(`${path}: `);
    const { violations, accepted, acceptedVersions } = await verifyStorage();
    expect([violations, acceptedVersions > 0]).toEqual([[], true]);
    const shown = accepted.filter(({ id }) => id === uid);
    expect(shown.map(({ path, message, dropped }) => [path, message, dropped?.name])).toEqual(
      stored.map(({ path, message, dropped }) => [path, message, dropped?.name]),
    );
    for (const format of ['FLAT', 'STRUCTURED', 'XML', 'JSON']) {
      const path = `${V1}/ehr/${ehrId}/composition/${uid}?format=${format}`;
      expect((await request(app).get(path)).status).toBe(200);
    }
  });
});

describe('what is left out', () => {
  const version = (uid: string) =>
    `/ehr/${ehrId}/versioned_composition/${versionedObjectUidOf(uid)}/version/${uid}`;

  it('is shown, in its place, by reads that ask for it, and given again it is left out again', async () => {
    const given = feederAudit();
    const uid = versionUidOf(await post({ body: given }));
    const plain = await request(app).get(`${V1}/ehr/${ehrId}/composition/${uid}`);
    expect(plain.text).not.toContain('ADMIN-ENTRY-FA');
    expect(plain.headers['preference-applied']).toBeUndefined();
    for (const path of [`/ehr/${ehrId}/composition/${uid}`, version(uid)]) {
      const response = await request(app).get(`${V1}${path}`).set('Prefer', LENIENT);
      const shown = withoutAttributes((response.body.data ?? response.body) as JsonObject, ['uid']);
      expect(response.headers['preference-applied']).toBe(LENIENT);
      expect(response.headers['cache-control']).toBe('no-store');
      expect(shown).toMatchObject({ content: given['content'] });
      const again = await post({ body: shown });
      expect((await storedFindings(versionUidOf(again))).length).toBe(2);
    }
    const xml = await request(app)
      .get(`${V1}${version(uid)}`)
      .set({ Prefer: LENIENT, Accept: 'application/xml' });
    expect(xml.text).toContain(`<${SYSTEM_AUDIT}>`);
  });

  it('of XML are elements and attributes of any namespace, in every style', async () => {
    for (const style of Object.values(ARCHIE_STYLES)) {
      const composition = aComposition();
      const xml = archieXml(typed(composition), 'composition', style).replace(
        ' archetype_node_id=',
        ' own="é" archetype_node_id=',
      );
      const extended = xml.replace(
        /<((?:ns2:)?)category/,
        '<own:extra xmlns:own="urn:own" own:a="1">one<own:b>2</own:b><own:b/></own:extra><$1category',
      );
      const response = await post({ body: extended, type: 'application/xml' });
      expect([response.status, response.text]).toEqual([201, '']);
      expect((await storedFindings(versionUidOf(response))).map(({ dropped }) => dropped)).toEqual([
        { name: 'own', value: '"é"' },
        { name: 'extra', value: JSON.stringify({ '@{urn:own}a': '1', '#text': 'one', b: ['2', ''] }) },
      ]);
    }
  });

  it.each(['_type', '__proto__'])('is never an element %s', async (name) => {
    const before = await dump();
    for (const inner of [`<${name}>x</${name}>`, `<extra><${name}>x</${name}></extra>`]) {
      const body = relationship().replace('<name>', `${inner}<name>`);
      expect((await post({ body, type: 'application/xml' })).status).toBe(400);
    }
    expect(await dump()).toBe(before);
  });
});

describe('lenient validation', () => {
  it('refuses what other servers refuse too, and then says only that', async () => {
    const before = await dump();
    const body = allTypes((composition) => {
      media(composition)['media_type'].code_string = 'image/own';
      composition['content'][1].data.items[0].value = { _type: 'DV_COUNT', magnitude: 1 };
    });
    const response = await post({ body });
    expect([response.status, response.body.validationErrors]).toEqual([
      422,
      [expect.stringContaining('but was DV_COUNT')],
    ]);
    const wrongCode = participation('mode', '9999', 'x');
    expect((await post({ body: wrongCode })).status).toBe(422);
    const readable = allTypes(
      ({ content }) => (content[1].data.items[0].value = { _type: 'DV_URI', value: 1 }),
    );
    expect((await post({ body: readable })).status).toBe(400);
    expect(await dump()).toBe(before);
  });

  it('needs nothing and says nothing where all is well', async () => {
    const response = await post({ body: aComposition(), prefer: `return=minimal, ${LENIENT}` });
    expect([response.status, warningsOf(response)]).toEqual([201, '']);
    expect(response.headers['preference-applied']).toBe(`return=minimal, ${LENIENT}`);
    expect(await storedFindings(versionUidOf(response))).toEqual([]);
    const fine = await post({ body: aComposition(), server: strict });
    expect([fine.status, fine.headers['preference-applied']]).toEqual([201, undefined]);
  });

  it('needs the permissions write and write_lenient, and no other', async () => {
    const server = testApp({
      ...WITH_ADMIN,
      auth: 'jwt',
      validation: 'lenient',
      rolePermissions: {
        CHIEF: ['admin', 'write_lenient'],
        WRITER: ['write'],
        MOVER: ['write', 'write_lenient'],
      },
    });
    const asked = async (role: string): Promise<number> =>
      (await post({ body: aComposition(), server, token: bearer([role]) })).status;
    expect([await asked('CHIEF'), await asked('WRITER'), await asked('MOVER')]).toEqual([403, 403, 201]);
  });

  it('is for every write under lenient-all, which need not ask for it', async () => {
    const server = testApp({ ...WITH_ADMIN, auth: 'jwt', validation: 'lenient-all' });
    const body = { ...aComposition(), colour: 'blue' };
    const written = await request(server)
      .post(`${V1}/ehr/${ehrId}/composition`)
      .set('Authorization', USER)
      .send(body);
    expect([written.status, written.headers['preference-applied']]).toEqual([201, undefined]);
    expect(written.headers['warning']).toContain('colour');
    expect(await storedFindings(versionUidOf(written))).toHaveLength(1);
    expect((await request(server).post(`${V1}/ehr/${ehrId}/composition`).send(body)).status).toBe(401);
  });

  it('takes a large body', async () => {
    const body = feederAudit();
    body['content'][0].data.events[0].data.items[0].value.value = 'x'.repeat(300 * 1024);
    for (const sent of [
      { body },
      {
        body: archieXml(typed(body), 'composition', ARCHIE_STYLES['without namespace']!),
        type: 'application/xml',
      },
    ]) {
      const response = await post(sent);
      expect([response.status, response.text.slice(0, 300)]).toEqual([201, '']);
    }
    expect((await storedFindings(versionUidOf(await post({ body })))).length).toBe(2);
  });

  it('tells the same when the request is repeated', async () => {
    const sent = { body: feederAudit(), key: 'lenient-1' };
    const [first, second] = [await post(sent), await post(sent)];
    expect(versionUidOf(second)).toBe(versionUidOf(first));
    expect(warningsOf(second)).toBe(warningsOf(first));
  });
});

describe('every write takes it:', () => {
  const OWN = { own_attribute: { of: ['another', 'server'] } };
  const status = (further: object) => ({
    _type: 'EHR_STATUS',
    archetype_node_id: 'openEHR-EHR-EHR_STATUS.generic.v1',
    name: { _type: 'DV_TEXT', value: 'Status' },
    subject: { _type: 'PARTY_SELF' },
    is_queryable: true,
    is_modifiable: true,
    ...further,
  });
  const folder = (further: object) => ({
    _type: 'FOLDER',
    archetype_node_id: 'openEHR-EHR-FOLDER.generic.v1',
    name: { _type: 'DV_TEXT', value: 'root' },
    ...further,
  });
  const composition = (further: object) => ({ ...aComposition(), ...further });

  async function expectTold(response: request.Response, uid = versionUidOf(response)): Promise<void> {
    expect([response.status < 300, response.text]).toEqual([true, expect.any(String)]);
    expect(warningsOf(response)).toContain('own_attribute');
    expect(response.headers['preference-applied']).toContain(LENIENT);
    expect(await storedFindings(uid)).toMatchObject([
      {
        path: '/',
        code: 'unknown-attribute',
        dropped: { name: 'own_attribute', value: '{"of":["another","server"]}' },
      },
    ]);
  }

  it('EHR, EHR_STATUS', async () => {
    const made = await send('post', '/ehr', { body: status(OWN) });
    const id = versionUidOf(made);
    const current = await request(app).get(`${V1}/ehr/${id}/ehr_status`);
    await expectTold(made, versionUidOf(current));
    await expectTold(
      await send('put', `/ehr/${id}/ehr_status`, { body: status(OWN) }, versionUidOf(current)),
    );
  });

  it('directory', async () => {
    const id = await givenEhr(app);
    const made = await send('post', `/ehr/${id}/directory`, { body: folder(OWN) });
    await expectTold(made);
    await expectTold(await send('put', `/ehr/${id}/directory`, { body: folder(OWN) }, versionUidOf(made)));
    const shown = await request(app).get(`${V1}/ehr/${id}/directory`).set('Prefer', LENIENT);
    expect(shown.body).toMatchObject(OWN);
  });

  it('COMPOSITION update', async () => {
    const made = await post({ body: aComposition() });
    const path = `/ehr/${ehrId}/composition/${versionedObjectUidOf(versionUidOf(made))}`;
    await expectTold(await send('put', path, { body: composition(OWN) }, versionUidOf(made)));
  });

  it('CONTRIBUTION, whose contents alone are lenient', async () => {
    const code = (value: string, code_string: string) => ({
      value,
      defining_code: { terminology_id: { value: 'openehr' }, code_string },
    });
    const version = (data: object) => ({ data, commit_audit: { change_type: code('creation', '249') } });
    const body = { versions: [version(aComposition()), version(composition(OWN)), version(folder(OWN))] };
    const made = await post({ body, key: 'lenient-2' }, 'contribution');
    expect([made.status, made.text]).toEqual([201, '']);
    const docs = await mongoose.connection
      .collection<Json>('versions')
      .find({ contribution_uid: versionUidOf(made) })
      .toArray();
    expect(docs.filter((doc) => doc['validation_findings'] !== undefined).length).toBe(2);
    for (const doc of docs.slice(1)) expect(warningsOf(made)).toContain(`${String(doc._id)} /: `);
    const repeated = await post({ body, key: 'lenient-2' }, 'contribution');
    expect(warningsOf(repeated).length).toBe(warningsOf(made).length);
    expect((await post({ body: { ...body, ...OWN } }, 'contribution')).status).toBe(400);
    const versions = [{ ...version(aComposition()), ...OWN }];
    expect((await post({ body: { versions } }, 'contribution')).status).toBe(400);
  });

  it('and what it accepted goes with an EHR that is merged, and ends with it', async () => {
    const [source, target] = [await givenEhr(app), await givenEhr(app)];
    const made = await send('post', `/ehr/${source}/composition`, { body: composition(OWN) });
    expect((await merge(app, source, target)).status).toBe(200);
    await expectTold(made);
    const shown = await request(app)
      .get(`${V1}/ehr/${target}/composition/${versionUidOf(made)}`)
      .set('Prefer', LENIENT);
    expect(shown.body).toMatchObject(OWN);
    expect((await admin(app, 'delete', `/ehr/${target}?cascade=true`)).status).toBe(204);
    expect(await storedFindings(versionUidOf(made))).toEqual([]);
    expect((await verifyStorage()).accepted.some(({ id }) => id === versionUidOf(made))).toBe(false);
  });
});

describe('lenient validation is bounded:', () => {
  const withUnknown = (count: number, value: unknown = 1): Json => ({
    ...aComposition(),
    ...Object.fromEntries(Array.from({ length: count }, (_, index) => [`own_${index}`, value])),
  });

  it('1,000 unknown attributes are left out, ten are told, and more are refused', async () => {
    const response = await post({ body: withUnknown(1000) });
    expect(response.status).toBe(201);
    expect(warningsOf(response).split('299 everchart').length - 1).toBe(11);
    expect(warningsOf(response)).toContain('and 990 more');
    expect((await storedFindings(versionUidOf(response))).length).toBe(1000);
    const before = await dump();
    for (const count of [1001, 10_000]) expect((await post({ body: withUnknown(count) })).status).toBe(413);
    expect(await dump()).toBe(before);
  });

  it('256 Ki characters are left out, more are refused', async () => {
    const name = 'own_0'.length;
    const most = 256 * 1024 - name - '""'.length;
    expect((await post({ body: withUnknown(1, 'x'.repeat(most)) })).status).toBe(201);
    const before = await dump();
    expect((await post({ body: withUnknown(1, 'x'.repeat(most + 1)) })).status).toBe(413);
    expect(await dump()).toBe(before);
  });

  it.each([
    ['a line end', 'a\r\nSet-Cookie: b=1'],
    ['a quote', 'quote" , 299 other "'],
    ['a backslash', '\\'],
    ['control characters', '\u0000\u007f'],
    ['other scripts', 'é\u{1f600}'],
    ['a path', '/content[0]'],
    ['5,000 characters', 'x'.repeat(5000)],
  ])('no name gets out of its header: %j', async (name) => {
    const response = await post({ body: { ...aComposition(), [name]: { '\r\n': '\r\n' } } });
    expect(response.status).toBe(201);
    expect(response.headers['set-cookie']).toBeUndefined();
    expect(warningsOf(response)).toMatch(/^299 everchart "(?:[^"\\]|\\["\\])*"$/);
    const shown = await request(app)
      .get(`${V1}/ehr/${ehrId}/composition/${versionUidOf(response)}`)
      .set('Prefer', LENIENT);
    expect(shown.body[name]).toEqual({ '\r\n': '\r\n' });
  });
});
