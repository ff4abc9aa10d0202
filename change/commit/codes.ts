import { CdrError } from '../../openehr/base/errors.js';
import type { JsonObject } from '../../openehr/base/json.js';

/** openEHR terminology, group "audit change type". */
const CHANGE_TYPES = {
  '249': 'creation',
  '250': 'amendment',
  '251': 'modification',
  '252': 'synthesis',
  '253': 'unknown',
  '523': 'deleted',
  '666': 'attestation',
} as const;

/** Code of an audit change type. */
export type ChangeType = keyof typeof CHANGE_TYPES;

/** openEHR terminology, group "version lifecycle state". */
const LIFECYCLE_STATES = {
  '523': 'deleted',
  '532': 'complete',
  '553': 'incomplete',
  '800': 'inactive',
  '801': 'abandoned',
} as const;

/** Code of a version lifecycle state. */
export type LifecycleState = keyof typeof LIFECYCLE_STATES;

/** A term as a client may give it: the code, the rubric, or both. */
export interface GivenTerm {
  readonly code?: string | undefined;
  readonly rubric?: string | undefined;
}

/** The change type that a code or rubric names. @throws invalid when unknown or when both do not agree */
export function changeTypeOf(term: GivenTerm): ChangeType {
  return termOf(CHANGE_TYPES, term, 'change_type');
}

/** The lifecycle state that a code or rubric names. @throws invalid as `changeTypeOf` */
export function lifecycleStateOf(term: GivenTerm): LifecycleState {
  return termOf(LIFECYCLE_STATES, term, 'lifecycle_state');
}

function termOf<T extends string>(terms: Readonly<Record<T, string>>, term: GivenTerm, name: string): T {
  const codes = Object.keys(terms) as T[];
  const rubric = term.rubric?.toLowerCase();
  const code = codes.find((known) =>
    term.code === undefined ? terms[known] === rubric : known === term.code,
  );
  if (code === undefined) throw new CdrError('invalid', `${name} has an unknown code or value`);
  if (rubric !== undefined && terms[code] !== rubric) {
    throw new CdrError('invalid', `the code and the value of ${name} do not agree`);
  }
  return code;
}

/** DV_CODED_TEXT of a change type. */
export function changeTypeTerm(code: ChangeType): JsonObject {
  return openehrTerm(code, CHANGE_TYPES[code]);
}

/** DV_CODED_TEXT of a lifecycle state. */
export function lifecycleTerm(code: LifecycleState): JsonObject {
  return openehrTerm(code, LIFECYCLE_STATES[code]);
}

function openehrTerm(code: string, rubric: string): JsonObject {
  return {
    _type: 'DV_CODED_TEXT',
    value: rubric,
    defining_code: {
      _type: 'CODE_PHRASE',
      terminology_id: { _type: 'TERMINOLOGY_ID', value: 'openehr' },
      code_string: code,
    },
  };
}

/** Whether content in this state is validated with all lower limits taken as 0. */
export function isLenient(state: LifecycleState): boolean {
  return state === '553' || state === '801';
}
