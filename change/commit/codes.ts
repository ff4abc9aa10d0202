import { CdrError } from '../../openehr/base/errors.js';
import type { JsonObject } from '../../openehr/base/json.js';

/** Codes of the openEHR terminology, group "audit change type", by their rubrics. */
export const CHANGE_TYPE = {
  creation: '249',
  amendment: '250',
  modification: '251',
  synthesis: '252',
  unknown: '253',
  deleted: '523',
  attestation: '666',
  restoration: '816',
  'format conversion': '817',
} as const;

/** Code of an audit change type. */
export type ChangeType = (typeof CHANGE_TYPE)[keyof typeof CHANGE_TYPE];

/** Codes of the openEHR terminology, group "version lifecycle state", by their rubrics. */
export const LIFECYCLE = {
  deleted: '523',
  complete: '532',
  incomplete: '553',
  inactive: '800',
  abandoned: '801',
} as const;

/** Code of a version lifecycle state. */
export type LifecycleState = (typeof LIFECYCLE)[keyof typeof LIFECYCLE];

/** A term as a client may give it: the code, the rubric, or both. */
export interface GivenTerm {
  readonly code?: string | undefined;
  readonly rubric?: string | undefined;
}

/** The change type that a code or rubric names. @throws invalid when unknown or when both do not agree */
export function changeTypeOf(term: GivenTerm): ChangeType {
  return codeOf(CHANGE_TYPE, term, 'change_type');
}

/** The lifecycle state that a code or rubric names. @throws invalid as `changeTypeOf` */
export function lifecycleStateOf(term: GivenTerm): LifecycleState {
  return codeOf(LIFECYCLE, term, 'lifecycle_state');
}

function codeOf<T extends string>(
  codes: Readonly<Record<string, T>>,
  { code, rubric: given }: GivenTerm,
  name: string,
): T {
  const rubric = given?.toLowerCase();
  const term = Object.entries(codes).find((entry) =>
    code === undefined ? entry[0] === rubric : entry[1] === code,
  );
  if (term === undefined) throw new CdrError('invalid', `${name} has an unknown code or value`);
  if (rubric !== undefined && term[0] !== rubric)
    throw new CdrError('invalid', `the code and the value of ${name} do not agree`);
  return term[1];
}

/** DV_CODED_TEXT of a change type. */
export function changeTypeTerm(code: ChangeType): JsonObject {
  const term = openehrTerm(CHANGE_TYPE, code);
  const { value, defining_code: phrase } = term;
  // As EHRbase has it; what is selected whole says the same as its path `defining_code/preferred_term`.
  return { ...term, defining_code: { ...(phrase as JsonObject), preferred_term: value ?? null } };
}

/** DV_CODED_TEXT of a lifecycle state. */
export function lifecycleTerm(code: LifecycleState): JsonObject {
  return openehrTerm(LIFECYCLE, code);
}

function openehrTerm<T extends string>(codes: Readonly<Record<string, T>>, code: T): JsonObject {
  const [rubric = ''] = Object.entries(codes).find((entry) => entry[1] === code) ?? [];
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
  return state === LIFECYCLE.incomplete || state === LIFECYCLE.abandoned;
}
