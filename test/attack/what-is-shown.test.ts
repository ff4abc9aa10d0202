import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import request from 'supertest';
import { textTable } from '../../cli/output.js';
import { forStream } from '../../cli/shown.js';
import { hoverAt } from '../../packages/aql/src/hover.js';
import type { Catalogue } from '../../packages/aql/src/catalogue.js';
import { csvLine } from '../../routes/query/query-answer.js';
import { testApp, useServer } from '../support/app.js';
import { useDatabase } from '../support/database.js';
import { givenEhr } from '../support/resources.js';
import { everythingOn } from '../support/settings.js';
import { ADMIN, USER } from '../support/tokens.js';

useDatabase();

const app = testApp(everythingOn({ auditReads: true, auth: 'jwt' }));
const served = useServer(app);

describe('texts of records and templates', () => {
  it.each(['x;=1+1', 'x\t=1+1', 'x|=1+1', 'x,=1+1', 'x\n=1+1'])(
    'begin no cell of a sheet, whatever it takes for a separator: %j',
    (text) => {
      expect(csvLine(JSON.stringify(['a', text]))).toBe(`a,"${text}"\r\n`);
    },
  );

  it('are no command for a terminal', () => {
    const table = textTable(['a'], [['\u001b]0;owned\u0007 \u001b]52;c;eA==\u0007 \u009b31m \u202egnp']]);
    expect(table).not.toMatch(/[^\P{Cc}\n]|\u202e/u);
    expect(table).toContain('\\x1b]0;owned\\x07');
  });

  it('are no command for a terminal in any other form, and reach a file or a program as they are', () => {
    const text = 'a\t\u001b]52;c;eA==\u0007\r\nb\u009b31m\u202e\rc\n';
    expect(forStream(text, { isTTY: true })).toBe('a\t\\x1b]52;c;eA==\\x07\r\nb\\x9b31m\\u202e\\x0dc\n');
    expect(forStream(text, { isTTY: false })).toBe(text);
  });

  it('are no Markdown in an editor', () => {
    const name = '**![x](https://evil.example/t.png) [click](command:x) <img src=x> `';
    const archetype = { name, description: name, nodes: new Map() };
    const catalogue = { archetype: () => archetype } as unknown as Catalogue;
    const hover = hoverAt('openEHR-EHR-OBSERVATION.pulse.v2', 3, catalogue)!.text;
    const bare = hover.replace(/`openEHR[^`]*`/, '').replace(/\\./g, '');
    expect(bare).not.toMatch(/!\[|\]\(|<|`|https:|command:/);
    expect(hover).toContain('click');
  });
});

describe('names that every object has', () => {
  it.each(['__proto__', 'constructor', 'toString'])('are no metric and no logger: %s', async (name) => {
    for (const path of ['metrics', 'loggers']) {
      const answer = request(app).get(`/management/${path}/${name}`).set('Authorization', ADMIN);
      expect((await answer).status).toBe(404);
    }
  });
});

describe('a request with two lines Host', () => {
  it('is 400', async () => {
    const socket = connect(Number(new URL(served.url).port), '127.0.0.1');
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
    socket.write(
      'GET /rest/openapi.json HTTP/1.1\r\nHost: localhost\r\nhost: evil.example\r\nConnection: close\r\n\r\n',
    );
    await once(socket, 'close');
    expect(text).toMatch(/^HTTP\/1.1 400 /);
  });
});

describe('the overview', () => {
  it('shows no EHR that queries do not show, and is recorded as a read', async () => {
    const open = testApp();
    const [shown, hidden] = [await givenEhr(open), await givenEhr(open)];
    await mongoose.connection
      .collection<{ _id: string }>('ehrs')
      .updateOne({ _id: hidden }, { $set: { is_queryable: false } });
    const { body } = await request(app).get('/rest/overview').set('Authorization', USER);
    const ids = (body as { contributions: { ehr_id: string }[] }).contributions.map(({ ehr_id: id }) => id);
    expect(ids).toContain(shown);
    expect(ids).not.toContain(hidden);
    const record = await mongoose.connection.collection('audit').findOne({ operation: 'overview_get' });
    expect(record).toMatchObject({ user: 'ada', ehr_ids: expect.arrayContaining([shown]) });
  });
});
