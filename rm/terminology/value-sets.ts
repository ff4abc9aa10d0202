import { OPENEHR, type CodeSetName, type GroupName } from './openehr-terminology.js';

/** What an RM attribute takes its codes from. */
export type ValueSet =
  | { readonly kind: 'group'; readonly name: GroupName; readonly terminologyId: string }
  | { readonly kind: 'code-set'; readonly name: CodeSetName; readonly terminologyId: string };

/** Templates-and-formats 6.2. */
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

/** Where the codes of an RM attribute come from; null when the RM does not say. Templates-and-formats 6.2. */
export function valueSetOf(attributeName: string): ValueSet | null {
  return VALUE_SETS.get(attributeName) ?? null;
}

/** One transition of the instruction state machine, in codes of `instruction states`. RM: ISM_TRANSITION. */
export interface InstructionTransition {
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

/** Codes of `instruction transitions` and the states they join (templates-and-formats 6.1). */
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
