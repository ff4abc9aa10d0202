import { readFileSync } from 'node:fs';
import { required } from '../../base/required.js';

/** Names of the groups of the openEHR terminology that the reference model refers to. */
export type GroupName =
  | 'attestation reason'
  | 'audit change type'
  | 'composition category'
  | 'event math function'
  | 'instruction states'
  | 'instruction transitions'
  | 'MultiMedia'
  | 'null flavours'
  | 'participation function'
  | 'participation mode'
  | 'property'
  | 'setting'
  | 'subject relationship'
  | 'term mapping purpose'
  | 'version lifecycle state';

/** Terminology ids of the code sets that the reference model refers to. */
type CodeSetName =
  | 'ISO_639-1'
  | 'ISO_3166-1'
  | 'IANA_character-sets'
  | 'IANA_media-types'
  | 'openehr_compression_algorithms'
  | 'openehr_integrity_check_algorithms'
  | 'openehr_normal_statuses';

/** The terminology id of all groups. */
export const OPENEHR = 'openehr';

type Rubrics = Readonly<Record<string, string>>;

interface TerminologyFile {
  readonly groups: Readonly<Record<string, Readonly<Record<string, Rubrics>>>>;
  readonly codesets: Readonly<
    Record<string, { readonly external_id: string; readonly codes: Readonly<Record<string, string>> }>
  >;
}

const FILE = JSON.parse(
  readFileSync(new URL('./openehr-terminology.json', import.meta.url), 'utf8'),
) as TerminologyFile;

/** Rubrics by language, by code, by group: 532 is `complete` in one group and `completed` in another. */
const GROUPS: ReadonlyMap<string, ReadonlyMap<string, ReadonlyMap<string, string>>> = new Map(
  Object.entries(FILE.groups).map(([group, codes]) => [
    group,
    new Map(Object.entries(codes).map(([code, rubrics]) => [code, new Map(translatedRubrics(rubrics))])),
  ]),
);

const CODE_SETS: ReadonlyMap<string, ReadonlyMap<string, string>> = new Map(
  Object.values(FILE.codesets).map((set) => [set.external_id, new Map(Object.entries(set.codes))]),
);

/** Codes by lower-case rubric of any language, by group. The English rubric wins. */
const CODES_BY_RUBRIC: ReadonlyMap<string, ReadonlyMap<string, string>> = new Map(
  Array.from(GROUPS, ([group, codes]) => [group, codesByRubric(codes)]),
);

/** The file marks what nobody has translated yet as `*rubric(en)`. */
function translatedRubrics(rubrics: Rubrics): [string, string][] {
  return Object.entries(rubrics).filter(([, text]) => !text.startsWith('*'));
}

function codesByRubric(codes: ReadonlyMap<string, ReadonlyMap<string, string>>): Map<string, string> {
  const byRubric = new Map<string, string>();
  for (const language of ['en', 'es', 'ja', 'pt'])
    for (const [code, rubrics] of codes) {
      const text = rubrics.get(language)?.toLowerCase();
      if (text !== undefined && !byRubric.has(text)) byRubric.set(text, code);
    }
  return byRubric;
}

/** Whether the group has the code. */
export function groupHas(group: GroupName, code: string): boolean {
  return GROUPS.get(group)?.has(code) ?? false;
}

/** All codes of a group with their English rubrics, in the order of the terminology. */
export function groupCodes(group: GroupName): ReadonlyMap<string, string> {
  const codes = GROUPS.get(group) ?? new Map<string, ReadonlyMap<string, string>>();
  return new Map(
    Array.from(codes, ([code, rubrics]) => [code, required(rubrics.get('en'), 'English rubric')]),
  );
}

/**
 * The rubric of a code in a language (`es`, `es-AR`); in English where there is no translation. Null when the
 * group does not have the code.
 */
export function rubric(group: GroupName, code: string, language: string): string | null {
  const rubrics = GROUPS.get(group)?.get(code);
  if (rubrics === undefined) return null;
  return rubrics.get(language.slice(0, 2).toLowerCase()) ?? rubrics.get('en') ?? null;
}

/** The code for a code of the group, or for a rubric of it in any language and letter case; else null. */
export function codeOf(group: GroupName, rubricOrCode: string): string | null {
  if (groupHas(group, rubricOrCode)) return rubricOrCode;
  return CODES_BY_RUBRIC.get(group)?.get(rubricOrCode.toLowerCase()) ?? null;
}

/** Whether the code set has the code. Languages, character sets and media types in any letter case (their RFCs). */
export function codeSetHas(codeSet: CodeSetName, code: string): boolean {
  if (CODE_SETS.get(codeSet)?.has(code) === true) return true;
  return CASELESS.get(codeSet)?.has(code.toLowerCase()) ?? false;
}

const CASELESS: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  (['ISO_639-1', 'IANA_character-sets', 'IANA_media-types'] as const).map((name) => [
    name,
    new Set(Array.from(CODE_SETS.get(name)?.keys() ?? [], (code) => code.toLowerCase())),
  ]),
);

/** All codes of a code set with their texts, in the order of the terminology. */
export function codeSetCodes(codeSet: CodeSetName): ReadonlyMap<string, string> {
  return CODE_SETS.get(codeSet) ?? new Map<string, string>();
}

/** What an RM attribute takes its codes from. */
export type ValueSet =
  | { readonly kind: 'group'; readonly name: GroupName; readonly terminologyId: string }
  | { readonly kind: 'code-set'; readonly name: CodeSetName; readonly terminologyId: string };

/** Groups of the openEHR terminology by RM attribute: docs/spec/formats.md#value-sets */
const GROUP_OF: Readonly<Record<string, GroupName>> = {
  category: 'composition category',
  setting: 'setting',
  current_state: 'instruction states',
  transition: 'instruction transitions',
  null_flavour: 'null flavours',
  mode: 'participation mode',
  function: 'participation function',
  relationship: 'subject relationship',
  property: 'property',
  math_function: 'event math function',
  purpose: 'term mapping purpose',
  lifecycle_state: 'version lifecycle state',
};

const CODE_SET_OF: Readonly<Record<string, CodeSetName>> = {
  language: 'ISO_639-1',
  territory: 'ISO_3166-1',
  encoding: 'IANA_character-sets',
  charset: 'IANA_character-sets',
  media_type: 'IANA_media-types',
  compression_algorithm: 'openehr_compression_algorithms',
  integrity_check_algorithm: 'openehr_integrity_check_algorithms',
  normal_status: 'openehr_normal_statuses',
};

const VALUE_SETS: ReadonlyMap<string, ValueSet> = new Map<string, ValueSet>([
  ...Object.entries(GROUP_OF).map(
    ([attribute, name]) => [attribute, { kind: 'group', name, terminologyId: OPENEHR }] as const,
  ),
  ...Object.entries(CODE_SET_OF).map(
    ([attribute, name]) => [attribute, { kind: 'code-set', name, terminologyId: name }] as const,
  ),
]);

/** Where the codes of an RM attribute come from (docs/spec/formats.md#value-sets); null when the RM does not say. */
export function valueSetOf(attributeName: string): ValueSet | null {
  return VALUE_SETS.get(attributeName) ?? null;
}

/** The group of the openEHR terminology that an RM attribute takes its codes from; null when there is none. */
export function groupOfAttribute(attributeName: string): GroupName | null {
  const valueSet = valueSetOf(attributeName);
  return valueSet?.kind === 'group' ? valueSet.name : null;
}

/** One transition of the instruction state machine, in codes of `instruction states`. RM: ISM_TRANSITION. */
interface InstructionTransition {
  readonly from: readonly string[];
  readonly to: string;
}

const INITIAL = '524';
const PLANNED = '526';
const POSTPONED = '527';
const CANCELLED = '528';
const SCHEDULED = '529';
const ACTIVE = '245';
const SUSPENDED = '530';
const ABORTED = '531';
const COMPLETED = '532';
const EXPIRED = '533';

/** Codes of `instruction transitions` and the states they join (docs/spec/formats.md#instruction-transitions). */
export const INSTRUCTION_TRANSITIONS: ReadonlyMap<string, InstructionTransition> = new Map([
  ['535', { from: [INITIAL], to: PLANNED }],
  ['536', { from: [PLANNED], to: PLANNED }],
  ['537', { from: [PLANNED, SCHEDULED], to: POSTPONED }],
  ['538', { from: [POSTPONED], to: PLANNED }],
  ['166', { from: [PLANNED, SCHEDULED, POSTPONED], to: CANCELLED }],
  ['542', { from: [POSTPONED], to: POSTPONED }],
  ['539', { from: [INITIAL, PLANNED], to: SCHEDULED }],
  ['534', { from: [SCHEDULED], to: SCHEDULED }],
  ['540', { from: [INITIAL, PLANNED, SCHEDULED], to: ACTIVE }],
  ['541', { from: [PLANNED], to: COMPLETED }],
  ['543', { from: [ACTIVE], to: ACTIVE }],
  ['544', { from: [ACTIVE], to: SUSPENDED }],
  ['545', { from: [SUSPENDED], to: SUSPENDED }],
  ['546', { from: [SUSPENDED], to: ACTIVE }],
  ['547', { from: [ACTIVE, SUSPENDED], to: ABORTED }],
  ['548', { from: [ACTIVE], to: COMPLETED }],
  ['549', { from: [PLANNED, POSTPONED, SCHEDULED, SUSPENDED, ACTIVE], to: EXPIRED }],
  ['550', { from: [EXPIRED], to: ABORTED }],
  ['551', { from: [EXPIRED], to: COMPLETED }],
  ['552', { from: [EXPIRED], to: CANCELLED }],
]);
