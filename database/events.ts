import { channel, subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { BudgetDetail } from '../openehr/base/errors.js';

/**
 * Names of the diagnostics channels (`node:diagnostics_channel`) on which the rooms publish what they did. Subscribers
 * are in `src`: metrics, traces, the log of slow queries, the warning about unchecked codes.
 */
export const EVENTS = {
  commit: 'everchart:commit',
  commitGroup: 'everchart:commit-group',
  query: 'everchart:query',
  merge: 'everchart:merge',
  templateCache: 'everchart:template-cache',
  terminologyFailure: 'everchart:terminology-failure',
  signInFailure: 'everchart:sign-in-failure',
  unreadableScopes: 'everchart:unreadable-scopes',
  emergencyAccess: 'everchart:emergency-access',
  erasureFailure: 'everchart:erasure-failure',
  budget: 'everchart:budget',
  ignored: 'everchart:ignored',
  commandStarted: 'everchart:command-started',
  commandEnded: 'everchart:command-ended',
} as const;

/** A CONTRIBUTION was committed. */
export interface CommitEvent {
  readonly seconds: number;
  readonly versions: number;
}

/** A transaction wrote one or several commits. */
export interface CommitGroupEvent {
  /** Commits in it. */
  readonly size: number;
  readonly seconds: number;
}

/** An AQL query was answered, or given up. */
export interface QueryEvent {
  readonly seconds: number;
  readonly rows: number;
  /** The text as submitted or stored: without the values of its parameters. */
  readonly aql: string;
  readonly requestId: string;
}

/** Two EHRs were merged, or a merge was taken back. */
export interface MergeEvent {
  readonly kind: 'merge' | 'unmerge';
}

/** A compiled template was asked for. */
export interface CacheEvent {
  readonly outcome: 'hit' | 'miss';
}

/** The terminology server failed and a code was accepted unchecked. */
export interface TerminologyFailureEvent {
  readonly valueSetUrl: string;
}

/** Somebody named himself, and was not believed. */
export interface SignInFailureEvent {
  readonly scheme: 'basic' | 'bearer' | 'other';
}

/** A token came with scopes that cannot be read. */
export interface UnreadableScopesEvent {
  readonly count: number;
}

/** Somebody said that it is an emergency, and it is in the audit. */
export interface EmergencyAccessEvent {
  /** Code of HL7: `ETREAT`, `BTG`. */
  readonly purpose: string;
}

/** What was left of the erasure of an EHR after its answer failed. */
export interface ErasureFailureEvent {
  readonly ehrId: string;
  readonly error: unknown;
}

/** A request was refused, or its answer ended, since it used up a budget. */
export interface BudgetEvent extends BudgetDetail {
  readonly requestId: string;
}

/** Something of a request was ignored or replaced, and its answer says so. */
export interface IgnoredEvent {
  readonly kind: IgnoredKind;
  /** What it was, without any value: a name, a code, an attribute. */
  readonly name: string;
}

/** Kinds of what is ignored: labels of a metric. */
type IgnoredKind =
  | 'parameter'
  | 'member'
  | 'ctx'
  | 'uid'
  | 'lifecycle-state'
  | 'empty-list'
  | 'absent'
  | 'preference'
  | 'finding';

/** A command goes to the database. */
export interface CommandStartedEvent {
  /** Of this process, the same in the event of its end. */
  readonly id: number;
  readonly command: string;
  readonly database: string;
  /** null: it is of no collection, or of several. */
  readonly collection: string | null;
  /** `host:port`, or the path of a socket. */
  readonly address: string;
}

/** A command was answered. */
export interface CommandEndedEvent {
  readonly id: number;
  /** The name of the database's code, else of the driver's error; null: it went well. */
  readonly failure: string | null;
}

interface Events {
  readonly commit: CommitEvent;
  readonly commitGroup: CommitGroupEvent;
  readonly query: QueryEvent;
  readonly merge: MergeEvent;
  readonly templateCache: CacheEvent;
  readonly terminologyFailure: TerminologyFailureEvent;
  readonly signInFailure: SignInFailureEvent;
  readonly unreadableScopes: UnreadableScopesEvent;
  readonly emergencyAccess: EmergencyAccessEvent;
  readonly erasureFailure: ErasureFailureEvent;
  readonly budget: BudgetEvent;
  readonly ignored: IgnoredEvent;
  readonly commandStarted: CommandStartedEvent;
  readonly commandEnded: CommandEndedEvent;
}

/** Calls `listen` with every event of a kind from now on. The function it gives ends that. */
export function onEvent<K extends keyof Events>(kind: K, listen: (event: Events[K]) => void): () => void {
  const listener = (event: unknown): void => listen(event as Events[K]);
  subscribe(EVENTS[kind], listener);
  return () => unsubscribe(EVENTS[kind], listener);
}

const channels = {
  commit: channel(EVENTS.commit),
  commitGroup: channel(EVENTS.commitGroup),
  query: channel(EVENTS.query),
  merge: channel(EVENTS.merge),
  templateCache: channel(EVENTS.templateCache),
  terminologyFailure: channel(EVENTS.terminologyFailure),
  signInFailure: channel(EVENTS.signInFailure),
  unreadableScopes: channel(EVENTS.unreadableScopes),
  emergencyAccess: channel(EVENTS.emergencyAccess),
  erasureFailure: channel(EVENTS.erasureFailure),
  budget: channel(EVENTS.budget),
  ignored: channel(EVENTS.ignored),
  commandStarted: channel(EVENTS.commandStarted),
  commandEnded: channel(EVENTS.commandEnded),
};

/** Publishes that a commit succeeded. Costs nothing while nobody listens. */
export function publishCommit(event: CommitEvent): void {
  if (channels.commit.hasSubscribers) channels.commit.publish(event);
}

/** Publishes that a group of commits succeeded. */
export function publishCommitGroup(event: CommitGroupEvent): void {
  if (channels.commitGroup.hasSubscribers) channels.commitGroup.publish(event);
}

/** Publishes that a query was answered. */
export function publishQuery(event: QueryEvent): void {
  if (channels.query.hasSubscribers) channels.query.publish(event);
}

/** Publishes that a merge or unmerge was committed. */
export function publishMerge(event: MergeEvent): void {
  if (channels.merge.hasSubscribers) channels.merge.publish(event);
}

/** Publishes whether a compiled template was in the cache. */
export function publishTemplateCache(event: CacheEvent): void {
  if (channels.templateCache.hasSubscribers) channels.templateCache.publish(event);
}

/** Publishes that a code was accepted unchecked. */
export function publishTerminologyFailure(event: TerminologyFailureEvent): void {
  if (channels.terminologyFailure.hasSubscribers) channels.terminologyFailure.publish(event);
}

/** Publishes that a request was refused for what its `Authorization` says. */
export function publishSignInFailure(event: SignInFailureEvent): void {
  if (channels.signInFailure.hasSubscribers) channels.signInFailure.publish(event);
}

/** Publishes that scopes of a token grant nothing, since they cannot be read. */
export function publishUnreadableScopes(event: UnreadableScopesEvent): void {
  if (channels.unreadableScopes.hasSubscribers) channels.unreadableScopes.publish(event);
}

/** Publishes that emergency access was used. */
export function publishEmergencyAccess(event: EmergencyAccessEvent): void {
  if (channels.emergencyAccess.hasSubscribers) channels.emergencyAccess.publish(event);
}

/** Publishes that the erasure of an EHR did not come to its end. */
export function publishErasureFailure(event: ErasureFailureEvent): void {
  if (channels.erasureFailure.hasSubscribers) channels.erasureFailure.publish(event);
}

/** Publishes that something of a request was ignored. */
export function publishIgnored(event: IgnoredEvent): void {
  if (channels.ignored.hasSubscribers) channels.ignored.publish(event);
}

/** Publishes that a request used up a budget. */
export function publishBudget(event: BudgetEvent): void {
  if (channels.budget.hasSubscribers) channels.budget.publish(event);
}

/** Whether somebody listens to commands: the driver is told only then. */
export function areCommandsWatched(): boolean {
  return channels.commandStarted.hasSubscribers;
}

/** Publishes that a command goes to the database. */
export function publishCommandStarted(event: CommandStartedEvent): void {
  channels.commandStarted.publish(event);
}

/** Publishes that a command was answered. */
export function publishCommandEnded(event: CommandEndedEvent): void {
  channels.commandEnded.publish(event);
}
