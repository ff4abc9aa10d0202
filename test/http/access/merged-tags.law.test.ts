import { beforeAll, expect, it } from '@jest/globals';
import { verifyStorage } from '../../../maintenance/verify.js';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { seeds } from '../../support/laws.js';
import { MergedTags } from '../../support/policy/merged-tags.js';
import { givenTemplate } from '../../support/resources.js';
import { everythingOn } from '../../support/settings.js';
import { putPolicies } from '../../support/policy/put.js';

/** Scripts of some merges, unmerges and changes of tags each. */
const SIZES = { small: 2, full: 400 };

useDatabase();
const everything = everythingOn({ auth: 'jwt', accessMode: 'enforce' });
const settings = {
  ...everything,
  rolePermissions: { ...everything.rolePermissions, NIGHT: ['emergency'] as const },
};
const apps = [testApp(settings), testApp({ ...settings, mergeStepsFrom: 0 })] as const;
const open = testApp();

const POLICIES = {
  admin: 'permit (principal, action, resource) when { principal.roles.contains("ADMIN") };',
  ward: `permit (principal, action, resource) when { principal has organisation &&
    resource.hasTag("access.ward") && resource.getTag("access.ward").contains(principal.organisation) };`,
  hidden: `forbid (principal, action, resource) when { resource.hasTag("access.hidden") }
    unless { principal.roles.contains("ADMIN") };`,
};

beforeAll(async () => {
  await givenTemplate(open);
  await putPolicies(apps[0], POLICIES);
});

it('what hides an EHR hides what it was merged into, and each has its own again when that is taken back', async () => {
  const met = { merges: 0, unmerges: 0, hidden: 0, seen: 0, withheld: 0 };
  for (const seed of seeds(SIZES)) {
    const script = new MergedTags(seed, { app: apps[seed % 2 === 0 ? 0 : 1], open });
    await script.run();
    for (const name of ['merges', 'unmerges', 'hidden', 'seen', 'withheld'] as const)
      met[name] += script.met[name];
  }
  expect((await verifyStorage()).violations).toEqual([]);
  for (const [name, count] of Object.entries(met)) expect([name, count > 0]).toEqual([name, true]);
}, 3_600_000);
