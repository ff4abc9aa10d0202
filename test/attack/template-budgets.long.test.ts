import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import request, { type Response } from 'supertest';
import { closePool } from '../../workers/large-body.js';
import { testApp } from '../support/app.js';
import { recordIds } from '../support/attack/record-ids.js';
import { takingNobody, watchedServerOfTest, type WatchedServer } from '../support/attack/watched-server.js';
import { useDatabase } from '../support/database.js';
import { element, evaluation, multiple, named, node, template } from '../support/openehr/opt-builder.js';
import { V1 } from '../support/resources.js';
import { testSettings } from '../support/settings.js';

useDatabase();
afterAll(() => closePool());

const app = testApp();
const TEMPLATES = `${V1}/definition/template/adl1.4`;
let server: WatchedServer;
beforeAll(async () => {
  server = await watchedServerOfTest();
});
afterAll(() => server.stop());

/** Uploads to a server that is taken from nobody meanwhile. */
async function upload(opt: string): Promise<{ status: number; message: string }> {
  return takingNobody(server, () => uploadTo(server.url, opt));
}

async function uploadTo(to: string | typeof app, opt: string): Promise<{ status: number; message: string }> {
  const { status, body } = await request(to)
    .post(TEMPLATES)
    .set('Content-Type', 'application/xml')
    .set('Prefer', 'return=minimal')
    .send(opt);
  return { status, message: (body as { message?: string }).message ?? '' };
}

async function refused(opt: string): Promise<string> {
  const before = await recordIds();
  const { status, message } = await upload(opt);
  expect(status).toBe(400);
  expect(await recordIds()).toBe(before);
  return message;
}

const TEXT = node('DV_TEXT');
/** An ELEMENT with a text is two objects. */
const elements = (count: number): string => element('at0002', TEXT).repeat(count);
/** A template with this number of ELEMENTs. */
const wide = (count: number, id: string): string =>
  template(evaluation(elements(count), { at0002: 'Item' }), { id });

/** Clusters of which each refers to the one before some times: levels deep, `width` wide. */
function references(levels: number, width: number, id: string): string {
  const level = (index: number): string => {
    const target = `<target_path>/data[at0001]/items[at${1000 + index - 1}]</target_path>`;
    const reference = node('CLUSTER', { xsiType: 'ARCHETYPE_INTERNAL_REF', inside: target, id: 'at0002' });
    const inside = index === 0 ? element('at0002', TEXT) : reference.repeat(width);
    return node('CLUSTER', { id: `at${1000 + index}`, inside: multiple('items', inside) });
  };
  const indexes = Array.from({ length: levels }, (_, index) => index);
  const texts = Object.fromEntries(indexes.map((index) => [`at${1000 + index}`, `Level ${index}`]));
  return template(evaluation(indexes.map(level).join(''), { ...texts, at0002: 'Item' }), { id });
}

/** A group of 99 ELEMENTs, 49 references to it, and ELEMENTs without value beside them: 9,959 objects and these. */
function referred(more: number, id: string): string {
  const target = '<target_path>/data[at0001]/items[at0003]</target_path>';
  const group = node('CLUSTER', { id: 'at0003', inside: multiple('items', elements(99)) });
  const reference = node('CLUSTER', { xsiType: 'ARCHETYPE_INTERNAL_REF', inside: target, id: 'at0004' });
  const items = group + reference.repeat(49) + element('at0002', '').repeat(more);
  return template(evaluation(items, { at0002: 'Item', at0003: 'Group', at0004: 'Same' }), { id });
}

describe('the nodes of a template', () => {
  it('are taken up to 10,000, and the web template is read without work', async () => {
    expect(await upload(referred(45, 'edge'))).toEqual({ status: 201, message: '' });
    const read = (): Promise<Response> =>
      request(server.url).get(`${TEMPLATES}/edge`).set('Accept', 'application/openehr.wt+json').then();
    for (let i = 0; i < 3; i++) expect((await takingNobody(server, read)).status).toBe(200);
  });

  it('are refused beyond 10,000', async () => {
    expect(await refused(referred(46, 'beyond'))).toBe(
      'Invalid template: a template can have at most 10000 nodes, this one has 10001',
    );
  });

  it('are refused by the number of XML nodes before anything is made of them', async () => {
    const { status, body } = await request(app)
      .post(TEMPLATES)
      .set('Content-Type', 'application/xml')
      .send(wide(5_200, 'far'));
    expect(status).toBe(413);
    expect((body as { message: string }).message).toContain('100000');
  });

  it.each([
    ['of 22,000 nodes', 4, 27],
    ['of 88,000 nodes', 5, 17],
    ['of 10 to the power of 30 nodes', 60, 10],
    ['of far more nodes than there is a number for', 100, 60],
  ])('are refused when internal references make them: a text %s', async (_, levels, width) => {
    const opt = references(levels, width, 'nested');
    expect(await refused(opt)).toContain('a template can have at most 10000 nodes');
  });

  it('are refused when open ELEMENTs make them, each of which can take any type', async () => {
    const open = (count: number, text = 'Item'): string =>
      template(evaluation(element('at0002', '').repeat(count), { at0002: text }), { id: `open-${count}` });
    expect(await refused(open(5_000))).toContain('its tree has more than 15000 nodes');
    expect(await refused(open(500, 'x'.repeat(10_000)))).toContain('have more than 16777216 characters');
    expect((await upload(open(500))).status).toBe(201);
  });

  it('are taken when internal references make fewer', async () => {
    expect((await upload(references(4, 14, 'nested-few'))).status).toBe(201);
  });

  it('are refused when lists of names make them', async () => {
    const names = named(...Array.from({ length: 200 }, (_, index) => `Name ${index}`));
    const inner = node('CLUSTER', { id: 'at0003', inside: names + multiple('items', elements(60)) });
    expect(await refused(template(evaluation(inner, { at0002: 'Item', at0003: 'Group' })))).toContain(
      'a template can have at most 10000 nodes',
    );
  });

  it('are refused when their texts together are too long', async () => {
    const opt = template(evaluation(elements(2_000), { at0002: 'x'.repeat(100_000) }));
    expect(await refused(opt)).toContain('have more than 16777216 characters');
  });
});

describe('a template of many nodes', () => {
  const hasty = testApp({ work: { ...testSettings().work, bodyTimeMs: 1 } });

  it('is compiled in a thread, which ends with its time, and a small one at once', async () => {
    expect((await uploadTo(hasty, wide(10, 'few'))).status).toBe(201);
    for (const opt of [referred(45, 'many'), padded(300_000, 'long')]) {
      const { status, message } = await uploadTo(hasty, opt);
      expect(status).toBe(413);
      expect(message).toContain('(BODY_TIMEOUT_MS)');
    }
  });
});

const padded = (bytes: number, id: string): string => {
  const opt = wide(1, id);
  return opt.replace('</template>', `<!--${'x'.repeat(bytes - opt.length - 7)}--></template>`);
};

describe('the size of a template', () => {
  const MAX_BYTES = 5 * 1024 * 1024;

  it('is at most MAX_TEMPLATE_BYTES', async () => {
    expect((await upload(padded(MAX_BYTES, 'bytes'))).status).toBe(201);
    expect(await upload(padded(MAX_BYTES + 1, 'bytes-2'))).toEqual({
      status: 413,
      message: 'the body is larger than 5242880 bytes (MAX_TEMPLATE_BYTES): send less at a time',
    });
    expect((await upload(padded(15_000_000, 'bytes-3'))).status).toBe(413);
  });

  it('follows the setting', async () => {
    const small = testApp({ maxTemplateBytes: 10_000 });
    expect((await uploadTo(small, wide(20, 'small'))).status).toBe(413);
    expect((await uploadTo(small, wide(1, 'small'))).status).toBe(201);
  });
});

describe('the id of a template', () => {
  it('has at most 255 characters', async () => {
    expect((await upload(wide(1, 'i'.repeat(255)))).status).toBe(201);
    const { status, message } = await upload(wide(1, 'i'.repeat(256)));
    expect(status).toBe(400);
    expect(message).toBe('Invalid template: a template id can have at most 255 characters, this one has 256');
    expect((await upload(wide(1, 'i'.repeat(1_000_000)))).status).toBe(400);
  });
});
