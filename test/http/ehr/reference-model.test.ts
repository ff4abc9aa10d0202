import { beforeAll, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { exampleComposition } from '../../../openehr/template/example/example.js';
import { compileTemplate } from '../../../openehr/template/compile.js';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import {
  archetypeDetails as details,
  namedOtherwise,
  namedOtherwiseInside,
  ofOneYear,
} from '../../support/openehr/broken-rules.js';
import { element, evaluation, template } from '../../support/openehr/opt-builder.js';
import { fixtureText } from '../../support/fixture.js';
import {
  aComposition,
  dump,
  givenComposition,
  givenEhr,
  givenTemplate,
  V1,
  versionUidOf,
  type Json,
} from '../../support/resources.js';
import { WITH_ADMIN } from '../../support/tokens.js';

const app = testApp(WITH_ADMIN);
const lenient = testApp({ validation: 'lenient-all' });
let ehrId = '';
useDatabase();
beforeAll(async () => {
  await givenTemplate(app);
  await givenTemplate(app, 'minimal_instruction.en.v1');
  ehrId = await givenEhr(app);
});

const path = (tail: string, ehr = ehrId): string => `${V1}/ehr/${ehr}/${tail}`;
const post = (body: Json, server = app): request.Test => request(server).post(path('composition')).send(body);
describe('a root named otherwise than its archetype', () => {
  it('is refused inside the content too, in every form, and taken with a finding under lenient validation', async () => {
    const finding = /^\/content\[0\].*: Invariant Archetyped_valid failed on type EVALUATION/;
    const refused = await post(namedOtherwiseInside());
    expect([refused.status, refused.body.validationErrors]).toEqual([422, [expect.stringMatching(finding)]]);
    const change_type = { terminology_id: { value: 'openehr' }, code_string: '249' };
    const versions = [{ commit_audit: { change_type }, data: namedOtherwiseInside() }];
    const contribution = await request(app).post(path('contribution')).send({ versions });
    expect(contribution.status).toBe(400);
    const uid = await givenComposition(app, ehrId);
    const right = await request(app)
      .get(path(`composition/${uid}`))
      .set('Accept', 'application/xml');
    const xml = right.text
      .replace(/<uid.*?<\/uid>/s, '')
      .replace(/(<archetype_id>\s*<value>)openEHR-EHR-EVALUATION[^<]*/, '$1openEHR-EHR-EVALUATION.other.v1');
    const ofXml = await request(app)
      .post(path('composition'))
      .set('Content-Type', 'application/xml')
      .send(xml);
    expect([ofXml.status, ofXml.body.validationErrors]).toEqual([422, [expect.stringMatching(finding)]]);
    const taken = await post(namedOtherwiseInside(), lenient);
    expect([taken.status, taken.headers['warning']]).toEqual([
      201,
      expect.stringContaining('Archetyped_valid'),
    ]);
  });

  it('is refused of a COMPOSITION, an EHR_STATUS and a FOLDER', async () => {
    const before = await dump();
    const composition = await post(namedOtherwise());
    expect([composition.status, composition.body.validationErrors]).toEqual([
      422,
      [
        '/: Invariant Archetyped_valid failed on type COMPOSITION (expected the archetype_id of archetype_details, found "openEHR-EHR-COMPOSITION.minimal.v1")',
      ],
    ]);
    const status = await request(app).get(path('ehr_status'));
    const other = { ...(status.body as Json), archetype_details: details('openEHR-EHR-EHR_STATUS.other.v1') };
    const put = await request(app)
      .put(path('ehr_status'))
      .set('If-Match', String(status.headers['etag']))
      .send(other);
    expect([put.status, String(put.body.message)]).toEqual([
      400,
      expect.stringContaining('Archetyped_valid'),
    ]);
    const folder = {
      _type: 'FOLDER',
      name: { value: 'root' },
      archetype_node_id: 'openEHR-EHR-FOLDER.generic.v1',
      archetype_details: details('openEHR-EHR-FOLDER.other.v1'),
    };
    const directory = await request(app).post(path('directory')).send(folder);
    expect([directory.status, String(directory.body.message)]).toEqual([
      400,
      expect.stringContaining('Archetyped_valid'),
    ]);
    expect(await dump()).toBe(before);
  });

  it('an EHR_STATUS that names its archetype alone has its id as node id', async () => {
    const archetype_details = details('openEHR-EHR-EHR_STATUS.mine.v1');
    const id = await givenEhr(app, { _type: 'EHR_STATUS', archetype_details });
    const status = await request(app).get(path('ehr_status', id));
    expect(status.body.archetype_node_id).toBe('openEHR-EHR-EHR_STATUS.mine.v1');
  });
});

describe('what a template says and EHRbase does not check', () => {
  it('a duration beyond its pattern is refused, under lenient validation taken with a finding', async () => {
    const refused = await post(ofOneYear());
    expect([refused.status, String(refused.body.validationErrors)]).toEqual([
      422,
      expect.stringMatching(/: The value P1Y must be of the pattern PTM$/),
    ]);
    expect(refused.body.violations[0]).toMatchObject({
      rule: 'C_DURATION.pattern',
      expected: [{ pattern: 'PTM' }],
    });
    const taken = await post(ofOneYear(), lenient);
    expect([taken.status, taken.headers['warning']]).toEqual([
      201,
      expect.stringContaining('must be of the pattern PTM'),
    ]);
  });

  it('a template with an ITEM_TABLE is taken, and content in it', async () => {
    const id = 'minimal_table.en.v1';
    const opt = fixtureText('opt/minimal_evaluation.en.v1.opt')
      .replaceAll('minimal_evaluation.en.v1', id)
      .replace(/<rm_type_name>ITEM_TREE<\/rm_type_name>/, '<rm_type_name>ITEM_TABLE</rm_type_name>')
      .replace(
        /(<rm_type_name>ITEM_TABLE<\/rm_type_name>[\s\S]*?<node_id>at\d+<\/node_id>)[\s\S]*?(<\/children>\s*<\/attributes>\s*<archetype_id>)/,
        '$1$2',
      );
    const uploaded = await request(app)
      .post(`${V1}/definition/template/adl1.4`)
      .set('Content-Type', 'application/xml')
      .send(opt);
    expect([uploaded.status, uploaded.body.message]).toEqual([201, undefined]);
    const composition = aComposition();
    composition['archetype_details'].template_id.value = id;
    const [entry] = composition['content'];
    const cell = (name: string): Json => ({
      _type: 'ELEMENT',
      name: { value: name },
      archetype_node_id: 'at0009',
      value: { _type: 'DV_COUNT', magnitude: 1 },
    });
    entry.data = {
      ...entry.data,
      _type: 'ITEM_TABLE',
      items: undefined,
      rows: [
        {
          _type: 'CLUSTER',
          name: { value: '1' },
          archetype_node_id: 'at0008',
          items: [cell('a'), cell('b')],
        },
      ],
    };
    const made = await post(composition);
    expect([made.status, made.body.validationErrors]).toEqual([201, undefined]);
    const read = await request(app).get(path(`composition/${versionUidOf(made)}`));
    expect(read.body.content[0].data.rows[0].items).toHaveLength(2);
    const xml = await request(app)
      .get(path(`composition/${versionUidOf(made)}`))
      .set('Accept', 'application/xml');
    expect(xml.text).toContain('xsi:type="ITEM_TABLE"');
  });
});

describe('an ELEMENT that its template leaves open', () => {
  const opt = template(evaluation(element('at0002', ''), { at0002: 'Value' }), { id: 'open.element.v1' });
  beforeAll(async () => {
    const uploaded = await request(app)
      .post(`${V1}/definition/template/adl1.4`)
      .set('Content-Type', 'application/xml')
      .send(opt);
    expect([uploaded.status, uploaded.text]).toEqual([201, '']);
  });

  it.each<[string, Json]>([
    ['DV_PARAGRAPH', { items: [{ _type: 'DV_TEXT', value: 'a' }] }],
    [
      'DV_INTERVAL',
      {
        lower: { _type: 'DV_COUNT', magnitude: 1 },
        ...{ lower_included: true, lower_unbounded: false, upper_included: false, upper_unbounded: true },
      },
    ],
    ['DV_SCALE', { value: 1.5, symbol: ofScale() }],
    [
      'DV_PERIODIC_TIME_SPECIFICATION',
      { value: { _type: 'DV_PARSABLE', value: 'x', formalism: 'HL7:PIVL' } },
    ],
  ])('takes a %s, in a CONTRIBUTION too, and AQL and XML give it back', async (_type, members) => {
    const value = { _type, ...members };
    const composition: Json = exampleComposition(compileTemplate(opt), {
      detailLevel: 'complete',
      type: 'input',
    });
    composition['content'][0].data.items[0].value = value;
    const posted = await post(composition);
    expect([posted.status, posted.body.message]).toEqual([201, undefined]);
    const uid = versionUidOf(posted);
    const q = `SELECT x/value FROM COMPOSITION c CONTAINS ELEMENT x WHERE c/uid/value = '${uid}'`;
    const found = await request(app).post(`${V1}/query/aql`).send({ q });
    expect(found.body.rows).toEqual([[expect.objectContaining({ _type, ...firstOf(members) })]]);
    const xml = await request(app)
      .get(path(`composition/${uid}`))
      .set('Accept', 'application/xml');
    expect(xml.text).toContain(`<value xsi:type="${_type}"`);
    const again = await request(app)
      .post(path('composition'))
      .set('Content-Type', 'application/xml')
      .send(xml.text.replace(/<uid xsi:type="OBJECT_VERSION_ID">.*?<\/uid>/s, ''));
    expect([again.status, again.text]).toEqual([201, '']);
    const creation = {
      _type: 'DV_CODED_TEXT',
      value: 'creation',
      defining_code: { terminology_id: { value: 'openehr' }, code_string: '249' },
    };
    const versions = [{ commit_audit: { change_type: creation }, data: composition }];
    expect((await request(app).post(path('contribution')).send({ versions })).status).toBe(201);
  });
});

function ofScale(): Json {
  return {
    _type: 'DV_CODED_TEXT',
    value: 'a',
    defining_code: {
      _type: 'CODE_PHRASE',
      terminology_id: { _type: 'TERMINOLOGY_ID', value: 'local' },
      code_string: 'at1',
    },
  };
}

/** The first member of an object, as one of its own. */
function firstOf(members: Json): Json {
  return Object.fromEntries<unknown>(Object.entries(members).slice(0, 1));
}

describe('what stands in the way of nobody', () => {
  it('empty optional lists are left out and named', async () => {
    const composition: Json = { ...aComposition(), links: [] };
    composition['composer'] = { ...composition['composer'], identifiers: [] };
    const response = await post(composition);
    expect(response.status).toBe(201);
    const warning = String(response.headers['warning']);
    expect(warning).toContain('the empty list links was left out');
    expect(warning).toContain('the empty list identifiers was left out');
    const read = await request(app).get(path(`composition/${versionUidOf(response)}`));
    expect([read.body.links, read.body.composer.identifiers]).toEqual([undefined, undefined]);
    expect((await post(aComposition())).headers['warning']).toBeUndefined();
  });

  it('an EHR_STATUS without archetype_details is taken with a warning', async () => {
    const status = await request(app).get(path('ehr_status'));
    const update = (body: Json, etag: string): request.Test =>
      request(app).put(path('ehr_status')).set('If-Match', etag).send(body);
    const without = await update(status.body as Json, String(status.headers['etag']));
    expect([without.status, without.headers['warning']]).toEqual([
      200,
      expect.stringContaining('has no archetype_details'),
    ]);
    const archetype_details = details('openEHR-EHR-EHR_STATUS.generic.v1');
    const complete = await update(
      { ...(status.body as Json), archetype_details },
      String(without.headers['etag']),
    );
    expect([complete.status, complete.headers['warning']]).toEqual([200, undefined]);
  });

  it('is counted: in the overview the commonest first, in a metric by its kind', async () => {
    const server = testApp({ managementEndpoints: ['prometheus'], managementAccess: 'PUBLIC' });
    for (let time = 0; time < 3; time += 1)
      await request(server).get(path('ehr_status')).query({ verbose: '1', pretty: time });
    await post({ ...aComposition(), links: [] }, server);
    await request(server).get(path('ehr_status')).query({ verbose: '1' });
    const { body } = await request(server).get('/rest/overview');
    expect(body.ignored.slice(0, 3)).toEqual([
      { kind: 'parameter', name: 'verbose', count: 4 },
      { kind: 'parameter', name: 'pretty', count: 3 },
      { kind: 'empty-list', name: 'links', count: 1 },
    ]);
    const { text } = await request(server).get('/management/prometheus');
    expect(text).toContain('everchart_ignored_total{kind="parameter"} 7');
    expect(text).toContain('everchart_ignored_total{kind="empty-list"} 1');
  });
});

describe('a FOLDER', () => {
  const root = (more: Json = {}): Json => ({
    _type: 'FOLDER',
    name: { value: 'root' },
    archetype_node_id: 'openEHR-EHR-FOLDER.generic.v1',
    ...more,
  });

  it('refers to objects of any kind of id', async () => {
    const id = await givenEhr(app);
    const items = [
      {
        _type: 'OBJECT_REF',
        id: { _type: 'GENERIC_ID', value: 'document 7', scheme: 'archive' },
        namespace: 'archive',
        type: 'ANY',
      },
    ];
    const made = await request(app).post(path('directory', id)).send(root({ items }));
    expect(made.status).toBe(201);
    const read = await request(app).get(path('directory', id));
    expect(read.body.items).toEqual(items);
    const xml = await request(app).get(path('directory', id)).set('Accept', 'application/xml');
    expect(xml.text).toContain(
      '<id xsi:type="GENERIC_ID"><value>document 7</value><scheme>archive</scheme></id>',
    );
    const malformed = [{ ...items[0], id: { _type: 'HIER_OBJECT_ID', value: 'document 7' } }];
    const refused = await request(app)
      .put(path('directory', id))
      .set('If-Match', String(made.headers['etag']))
      .send(root({ items: malformed }));
    expect(refused.status).toBe(400);
  });

  it('with a tag header is refused by the name of the header, and nothing is written', async () => {
    const id = await givenEhr(app);
    const other = await givenEhr(app);
    const made = await request(app).post(path('directory', other)).send(root()).expect(201);
    const ifMatch = String(made.headers['etag']);
    const before = await dump();
    for (const name of ['openehr-item-tag', 'openehr-version-item-tag']) {
      const requests = [
        request(app).post(path('directory', id)).send(root()),
        request(app).put(path('directory', other)).set('If-Match', ifMatch).send(root()),
        request(app).delete(path('directory', other)).set('If-Match', ifMatch),
      ];
      for (const asked of requests) {
        const refused = await asked.set(name, 'key="a"');
        expect([refused.status, String(refused.body.message)]).toEqual([400, expect.stringContaining(name)]);
      }
    }
    expect(await dump()).toBe(before);
  });

  it('without name and node id is filled under lenient validation, and refused else', async () => {
    const id = await givenEhr(app);
    const bare = { _type: 'FOLDER', folders: [{ _type: 'FOLDER' }, { _type: 'FOLDER' }] };
    const before = await dump();
    expect((await request(app).post(path('directory', id)).send(bare)).status).toBe(400);
    expect(await dump()).toBe(before);
    const taken = await request(lenient)
      .post(path('directory', id))
      .set('Prefer', 'return=representation')
      .send(bare);
    expect([taken.status, taken.headers['warning']]).toEqual([
      201,
      expect.stringContaining('Attribute name of class FOLDER was absent'),
    ]);
    expect(taken.body).toMatchObject({
      name: { value: 'Folder' },
      archetype_node_id: 'openEHR-EHR-FOLDER.generic.v1',
      folders: [{ name: { value: 'Folder 1' } }, { name: { value: 'Folder 2' } }],
    });
  });
});
