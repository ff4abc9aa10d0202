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
