import type { JsonObject } from '../../openehr/base/json.js';
import { textAt } from '../../openehr/rm/access.js';
import { MAX_ACCEPTED_FINDINGS, type AcceptedFinding } from '../../openehr/rm/lenient.js';
import { readRm } from '../../openehr/rm/read.js';
import type { Settings } from '../../config/settings.js';
import { LIFECYCLE } from '../../change/commit/codes.js';
import { validateContent } from '../../change/content/content.js';
import type { Judge } from './old-lines.js';
import { contentOf } from './old-version.js';
import type { OldDefinitions } from './read-definitions.js';

/** The settings that decide what a COMPOSITION may be. */
type Rules = Pick<Settings, 'checkRmRules' | 'checkExtraNodes' | 'checkContainerCardinality'>;

/** What content of an old server breaks of the rules of this one, by the templates that it has there. */
export function judging(definitions: OldDefinitions, rules: Rules): Judge {
  return ({ type, version, revision }) => {
    const data = contentOf(version);
    if (type !== 'COMPOSITION' || data === undefined) return [];
    const template = definitions.compiled(
      textAt(data, 'archetype_details', 'template_id', 'value') ?? '',
      revision,
    );
    // Without it nothing is restored.
    if (template === null) return [];
    // A reader may keep parts of what it reads.
    const { object, violations } = readRm(structuredClone(data), 'COMPOSITION');
    const further = { lenient: mayLack(version), acceptsFindings: false };
    const broken =
      object === null ? [] : validateContent(object, template, { ...rules, ...further }).violations;
    return [...violations, ...broken]
      .slice(0, MAX_ACCEPTED_FINDINGS)
      .map(({ path, code, message }): AcceptedFinding => ({ path, code, message }));
  };
}

function mayLack(version: JsonObject): boolean {
  const state = textAt(version, 'lifecycle_state', 'defining_code', 'code_string');
  return state === LIFECYCLE.incomplete || state === LIFECYCLE.abandoned;
}
