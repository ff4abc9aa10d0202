import { MAX_WARNINGS, warningsOf, type QueryWarning } from '../aql/result/warning.js';
import { misfits } from '../aql/semantics/literal-fit.js';
import type { Scope } from '../aql/semantics/scope-types.js';
import { hasUnknownNames, unknownNames, type UnknownName } from '../aql/result/unknown-names.js';
import { within, type Work } from '../openehr/base/work.js';
import { shapeIds } from '../models/cross-collection/run-pipeline.js';
import { knownVocabulary, presentVocabulary } from '../models/definition/template-vocabulary.js';

/**
 * What of a query is probably a mistake (docs/spec/aql.md#warnings). Costs no look at the database while all names are known
 * to this process; else one at the revisions of the templates. `isNarrowed`: policies hide some of the data from who asks.
 */
export async function queryWarnings(
  scope: Scope,
  { subsumption, isNarrowed }: { readonly subsumption: boolean; readonly isNarrowed: boolean },
  work: Work,
): Promise<readonly QueryWarning[]> {
  const unknown = await unknownIn(scope, { subsumption, isNarrowed, limit: MAX_WARNINGS }, work);
  return within(work, () => warningsOf(unknown, misfits(scope)));
}

async function unknownIn(
  scope: Scope,
  options: { readonly subsumption: boolean; readonly isNarrowed: boolean; readonly limit: number },
  work: Work,
): Promise<readonly UnknownName[]> {
  const isKnown = within(work, () => !hasUnknownNames(scope, knownVocabulary(), options.subsumption));
  if (isKnown) return [];
  const vocabulary = await presentVocabulary();
  if (vocabulary === null || vocabulary.templates.size === 0) return [];
  const unknown = within(work, () => unknownNames(scope, vocabulary, options));
  // Whether data have it would tell of what is hidden.
  if (options.isNarrowed) return unknown.filter(({ kind }) => kind !== 'archetype');
  const archetypes = unknown.filter(({ kind }) => kind === 'archetype').map(({ name }) => name);
  // An open slot takes archetypes that no template names: what data have is no mistake.
  const shapes = archetypes.length === 0 ? [] : await shapeIds(archetypes);
  return unknown.filter(
    ({ kind, name }) => kind !== 'archetype' || !shapes.some((id) => id.startsWith(`${name}|`)),
  );
}
