import { beforeAll, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import {
  aComposition,
  givenComposition,
  givenEhr,
  givenTemplate,
  V1,
  versionedObjectUidOf,
  type Json,
} from '../../support/resources.js';
import { everythingOn } from '../../support/settings.js';
import { USER } from '../../support/tokens.js';
import { putPolicy } from '../../support/policy/put.js';

useDatabase();

const app = testApp(everythingOn({ auth: 'jwt', accessMode: 'enforce', accessRefused: '403' }));
const open = testApp();

const policy = (id: string, text: string) => putPolicy(app, id, text);

/** A new version of a COMPOSITION in a CONTRIBUTION. */
function versionAfter(uid: string): object {
  const change_type = {
    _type: 'DV_CODED_TEXT',
    value: 'modification',
    defining_code: {
      _type: 'CODE_PHRASE',
      terminology_id: { _type: 'TERMINOLOGY_ID', value: 'openehr' },
      code_string: '251',
    },
  };
  return {
    _type: 'ORIGINAL_VERSION',
    commit_audit: { _type: 'AUDIT_DETAILS', change_type },
    preceding_version_uid: { _type: 'OBJECT_VERSION_ID', value: uid },
    data: aComposition(),
  };
}

beforeAll(() => givenTemplate(open));

describe('with ACCESS_REFUSED=403', () => {
  const ask = (method: 'get' | 'post' | 'put' | 'delete', path: string) =>
    request(app)[method](`${V1}${path}`).set('Authorization', USER);
  const ABSENT = '5f1c9a6e-1b7d-4e0a-9c3b-0a8b6d2f4e11';

  it('what is hidden is refused, and what is not there is not', async () => {
    const [hidden, seen] = [await givenEhr(open), await givenEhr(open)];
    const uid = await givenComposition(open, seen);
    const inHidden = await givenComposition(open, hidden);
    await policy(
      'some',
      `permit (principal, action, resource) unless { resource.ehr_id == "${hidden}" ||
        (resource is Version && resource has template_id) };`,
    ).expect(200);
    const statuses = async (ehr: string, version: string): Promise<number[]> => {
      const to = (method: 'put' | 'delete', path: string) =>
        ask(method, path).set('If-Match', `"${version}"`);
      const id = versionedObjectUidOf(version);
      const answers = [
        await ask('get', `/ehr/${ehr}`),
        await ask('get', `/ehr/${ehr}/ehr_status`),
        await ask('post', '/query/aql').send({ q: 'SELECT e FROM EHR e', ehr_id: ehr }),
        await ask('get', `/ehr/${ehr}/composition/${version}`),
        await to('put', `/ehr/${ehr}/composition/${id}`).send(aComposition()),
        await to('delete', `/ehr/${ehr}/composition/${version}`),
      ];
      return answers.map(({ status }) => status);
    };
    const absent = inHidden.replace(/^[0-9a-f-]{36}/, ABSENT);
    expect(await statuses(hidden, inHidden)).toEqual([403, 403, 403, 403, 403, 403]);
    expect(await statuses(ABSENT, absent)).toEqual([404, 404, 404, 404, 404, 404]);
    expect((await statuses(seen, uid)).slice(0, 4)).toEqual([200, 200, 200, 403]);
    expect((await statuses(seen, absent))[3]).toBe(404);
    // What is of another EHR, hidden or not, is not in this one: nobody is told that it is somewhere.
    for (const preceding of [inHidden, absent]) {
      const versions = [versionAfter(preceding)];
      const sent = ask('post', `/ehr/${seen}/contribution`).send({ _type: 'CONTRIBUTION', versions });
      expect((await sent).status).toBe(404);
    }
    const rows = await ask('post', '/query/aql').send({ q: 'SELECT e/ehr_id/value FROM EHR e' }).expect(200);
    expect((rows.body as Json)['rows']).not.toContainEqual([hidden]);
  });
});
