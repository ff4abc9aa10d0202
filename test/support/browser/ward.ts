import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import type { Settings } from '../../../config/settings.js';
import { Cdr, versionedObjectUidOf } from '../../../packages/client/src/main.js';
import { fixtureText } from '../fixture.js';
import { ROOT, tokenOf } from '../policy/marks.js';
import { everythingOn } from '../settings.js';

/** People of a hospital, and what they may do. */
const WARD_ROLES = {
  USER: ['read', 'write', 'define'],
  ADMIN: ['read', 'write', 'define', 'admin', 'audit', 'restore'],
  PHYSICIAN: ['read', 'write'],
  PSYCHIATRIST: ['read', 'write'],
  PATIENT: ['read'],
  NIGHT: ['read', 'write', 'emergency'],
  AUDITOR: ['audit'],
} as const;

const NOTE = 'minimal_evaluation.en.v1';
/** Stands for what psychiatry writes. */
const PSYCHIATRY = 'minimal_observation.en.v1';

/** Settings of a server on which policies hold, for people of these roles. */
export function wardSettings(overrides: Partial<Settings> = {}): Partial<Settings> {
  return {
    ...everythingOn({ auth: 'jwt', accessMode: 'enforce' }),
    rolePermissions: WARD_ROLES,
    ...overrides,
  };
}

/** A patient of a ward. */
interface WardPatient {
  readonly ehrId: string;
  /** His number. */
  readonly subject: string;
  /** A document that anybody of the ward reads, and one of psychiatry. */
  readonly note: string;
  readonly psychiatry: string;
}

/** A client of somebody. */
export function clientOf(url: string, authorization: string): Cdr {
  return new Cdr({ url, token: authorization.replace('Bearer ', ''), retries: 0 });
}

/** A new patient of a ward, with two documents. Made by an administrator while he sees all. */
export async function givenWardPatient(url: string, ward: string, subject: string): Promise<WardPatient> {
  const root = clientOf(url, ROOT);
  for (const template of [NOTE, PSYCHIATRY])
    await root.templates.upload(fixtureText(`opt/${template}.opt`)).catch(() => template);
  const { id: ehrId } = await root.ehr.create({ subject: { namespace: 'hospital', id: subject } });
  const { compositions, status } = root.ehr(ehrId);
  const { uid: note } = await compositions.commit(await root.templates.example(NOTE));
  const { uid: psychiatry } = await compositions.commit(await root.templates.example(PSYCHIATRY));
  const { uid } = await status.get();
  const container = versionedObjectUidOf((uid as { readonly value: string }).value);
  const path = `/rest/openehr/v1/ehr/${ehrId}/ehr_status/${container}/tags`;
  await root.request('PUT', path, { body: [{ key: 'access.ward', value: ward }] });
  return { ehrId, subject, note, psychiatry };
}

/** The ready policies of docs/access.md by their ids; that of psychiatry is about its template here. */
export function readyPolicy(id: string): string {
  const [, part = ''] = readFileSync('docs/access.md', 'utf8').split(`\n### \`${id}\`\n`);
  const [, text = ''] = /```cedar\n([^`]*)```/.exec(part) ?? [];
  return text.replace('psychiatry*', 'minimal_observation*');
}

/** What an emergency opens where no policy permits anything. */
export const EMERGENCY_DEPARTMENT = `@emergency("only")
permit (principal, action in [Action::"read", Action::"query"], resource);
`;

/** Stores policies, and removes them. */
export async function storePolicies(url: string, policies: Readonly<Record<string, string>>): Promise<void> {
  for (const [id, policy] of Object.entries(policies))
    await clientOf(url, ROOT).request('PUT', `/rest/admin/policies/${id}`, { body: { policy } });
}

/** Signs in where the page asks for a token. */
export async function signIn(
  page: Page,
  roles: readonly string[],
  { name, ...claims }: { readonly name: string } & Readonly<Record<string, string>>,
): Promise<void> {
  const token = tokenOf(roles, { preferred_username: name, ...claims }, name);
  await page.getByLabel('Token').fill(token.replace('Bearer ', ''));
  await page.locator('main button[type=submit]').click();
}
