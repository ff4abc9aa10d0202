import { changeContext, type ChangeContext } from '../../change/commit/context.js';
import { readObject } from '../../change/content/content.js';
import { createEhr } from '../../change/ehr.js';
import { createTemplate } from '../../change/definition/template.js';
import type { JsonObject } from '../../openehr/base/json.js';
import type { PartialRm } from '../../openehr/rm/model/rm.js';
import type { VersionMetadata } from '../../change/commit/request.js';
import type { ChangeType, LifecycleState } from '../../change/commit/codes.js';
import { compileTemplate } from '../../openehr/template/compile.js';
import { fixtureText } from './fixture.js';
import { testSettings } from './settings.js';
import { aComposition } from './resources.js';

/** A change context with the clock given. */
export function aContext(now: () => Date = () => new Date()): ChangeContext {
  return changeContext(testSettings(), now);
}

/** Commit metadata as of a direct change. */
export function aMetadata(
  changeType: ChangeType = '249',
  lifecycleState: LifecycleState = '532',
): VersionMetadata {
  return {
    audit: { changeType, committer: { _type: 'PARTY_IDENTIFIED', name: 'Ada' } },
    lifecycleState,
  };
}

/** Stores a template of the fixtures. */
export async function storedTemplate(name = 'minimal_evaluation.en.v1'): Promise<void> {
  const opt = fixtureText(`opt/${name}.opt`);
  await createTemplate({ opt, compiled: compileTemplate(opt) });
}

/** Makes an EHR and gives its id. */
export async function storedEhr(context: ChangeContext, status: JsonObject | null = null): Promise<string> {
  const created = await createEhr(context, { ehrId: null, status, metadata: aMetadata() });
  return created.ehr._id;
}

/** A COMPOSITION of the fixtures as the routes hand it on: read, not validated. */
export function readComposition(name?: string): PartialRm<'COMPOSITION'> {
  return readObject(aComposition(name), 'COMPOSITION');
}

/** Gives a COMPOSITION of the fixtures each time it is asked. */
export function reader(name?: string): () => Promise<PartialRm<'COMPOSITION'>> {
  return () => Promise.resolve(readComposition(name));
}
