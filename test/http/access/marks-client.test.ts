import { beforeAll, expect, it } from '@jest/globals';
import { Cdr, CdrError, ForbiddenError, RestrictedError } from '../../../packages/client/src/main.js';
import { testApp, useServer } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { MARK_ROLES, RESTRICTED, ROOT, tokenOf, WITHHELD } from '../../support/policy/marks.js';
import { aComposition, givenEhr, givenTemplate } from '../../support/resources.js';
import { everythingOn } from '../../support/settings.js';

useDatabase();

const settings = { ...everythingOn({ auth: 'jwt', accessMode: 'enforce' }), rolePermissions: MARK_ROLES };
const served = useServer(testApp(settings));
const open = testApp();
const clientOf = (authorization: string): Cdr =>
  new Cdr({ url: served.url, token: authorization.replace('Bearer ', ''), retries: 0 });

beforeAll(() => givenTemplate(open));

it('sets and lists marks, says what is restricted, and states an emergency', async () => {
  const [root, night] = [clientOf(ROOT), clientOf(tokenOf(['NIGHT'], {}, 'night'))];
  const id = await givenEhr(open);
  const { marks } = root.ehr(id);
  const [set] = await marks.set([WITHHELD]);
  expect(set).toMatchObject({ ...WITHHELD, by: 'root' });
  expect(await marks.list()).toEqual([set]);
  await expect(night.ehr(id).get()).rejects.toMatchObject({ code: 'not-found' });
  const glass = night.inEmergency('bewußtlos');
  expect((await glass.ehr(id).get()).ehr_id.value).toBe(id);
  await marks.set([RESTRICTED]);
  expect(await marks.list({ history: true })).toHaveLength(2);
  const refused = await root
    .ehr(id)
    .get()
    .catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(RestrictedError);
  expect(refused).toBeInstanceOf(CdrError);
  expect(refused).toMatchObject({ status: 403, code: 'restricted', marks: [RESTRICTED] });
  const written = night.ehr(id).compositions.commit(aComposition());
  await expect(written).rejects.toMatchObject({ status: 409, code: 'restricted', marks: [] });
  await expect(glass.ehr(id).get()).rejects.toMatchObject({ code: 'not-found' });
  await expect(night.ehr(id).marks.list()).rejects.toBeInstanceOf(ForbiddenError);
});

it('states an emergency by an option, in any script, and refuses a reason that no header holds', async () => {
  const id = await givenEhr(open);
  await clientOf(ROOT).ehr(id).marks.set([WITHHELD]);
  const token = tokenOf(['NIGHT'], {}, 'night').replace('Bearer ', '');
  const asking = { url: served.url, token, retries: 0 };
  const glass = new Cdr({ ...asking, purpose: { code: 'ETREAT', reason: 'без сознания' } });
  expect((await glass.ehr(id).get()).ehr_id.value).toBe(id);
  const [used] = await clientOf(ROOT).admin.audit({ operation: 'emergency_access', ehrId: id });
  expect(used).toMatchObject({ purpose: 'ETREAT', reason: 'без сознания' });
  expect(() => new Cdr({ ...asking, purpose: { code: 'BTG', reason: 'two\nlines' } })).toThrow(TypeError);
});
