import { CdrError } from '../../../base/errors.js';
import { nearestWord } from '../../../base/text.js';
import { violationAt } from '../../../base/violation.js';
import { counted } from '../../../base/work.js';

/** The keys below `ctx/`, without the indexes of lists. */
const KNOWN: readonly string[] = [
  'language',
  'territory',
  'composer_name',
  'composer_id',
  'composer_self',
  'id_scheme',
  'id_namespace',
  'time',
  'end_time',
  'history_origin',
  'action_time',
  'action_ism_transition_current_state',
  'activity_timing',
  'instruction_narrative',
  'provider_name',
  'provider_id',
  'health_care_facility|name',
  'health_care_facility|id',
  'location',
  'setting',
  'work_flow_id|id',
  'work_flow_id|id_scheme',
  'work_flow_id|namespace',
  'work_flow_id|type',
  ...['name', 'function', 'mode', 'id', 'identifiers'].map((part) => `participation_${part}`),
  ...['id', 'type', 'issuer', 'assigner'].map((part) => `participation_identifiers|${part}`),
  ...['meaning', 'type', 'target'].map((part) => `link|${part}`),
];
/** `composer` of `composer_name`: the word that a name begins with. */
const FIRST_WORD = /^[a-z]+(?=[_|:]|$)/;
const FIRST_WORDS = new Set(KNOWN.map((name) => FIRST_WORD.exec(name)?.[0]));
/** Listed ones may carry an index. */
const LISTED = /^(?:participation_|link)/;

/** Misspelt keys that are named one by one. */
const MAX_NAMED = 20;

/**
 * The names below `ctx/` that nobody knows: EHRbase ignores them.
 * @throws invalid naming each name within two letters of a known one, which was probably meant
 */
export function ignoredContextKeys(names: readonly string[]): string[] {
  const unknown = counted(names).filter((name) => !KNOWN.includes(withoutIndexes(name)));
  const misspelt = counted(unknown).flatMap((name) => {
    const meant = nearestWord(withoutIndexes(name), KNOWN);
    return meant === null ? [] : [{ name, meant }];
  });
  if (misspelt.length === 0) return unknown;
  const named = misspelt.slice(0, MAX_NAMED);
  const texts = counted(named).map(
    ({ name, meant }) => `the key ctx/${name} is not known; did you mean ctx/${meant}?`,
  );
  throw new CdrError('invalid', texts.join(' '), {
    problems: counted(named).map(({ name, meant }) => ({
      ...violationAt('/', 'no such key below ctx/', 'unknown-key'),
      flatPath: `ctx/${name}`,
      expected: [`ctx/${meant}`],
    })),
  });
}

function withoutIndexes(name: string): string {
  return LISTED.test(name) ? name.replace(/:\d{1,4}(?=\||$)/g, '') : name;
}

/** Whether a name below `ctx/` begins as a known key does: what it holds has to be a value then. */
export function beginsAsContextKey(name: string): boolean {
  const word = FIRST_WORD.exec(name)?.[0];
  return word !== undefined && FIRST_WORDS.has(word);
}
