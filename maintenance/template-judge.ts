import { isJsonObject, jsonOf, type JsonObject, type JsonValue } from '../openehr/base/json.js';
import type { Violation } from '../openehr/base/violation.js';
import { textAt } from '../openehr/rm/access.js';
import { readRm } from '../openehr/rm/read.js';
import { readRules, type UpgradeRule } from '../openehr/template/upgrade/rules.js';
import { upgradeBy } from '../openehr/template/upgrade/upgrade.js';
import { isLenient, lifecycleStateOf, type LifecycleState } from '../change/commit/codes.js';
import type { ChangeSettings } from '../change/commit/context.js';
import { validateContent } from '../change/content/content.js';
import type { TemplateInUse } from '../models/definition/template.js';
import type { VersionDoc } from '../models/version.js';

/** Why a COMPOSITION cannot be upgraded. */
export interface UpgradeCause {
  readonly path: string;
  readonly message: string;
}

/** What an upgrade makes of a COMPOSITION. `isUnproven`: a terminology server has not been asked for codes of it. */
export type JudgedContent =
  | { readonly kind: 'valid'; readonly content: JsonObject; readonly isUnproven: boolean }
  | { readonly kind: 'mappable'; readonly content: JsonObject; readonly isUnproven: boolean }
  | { readonly kind: 'invalid'; readonly causes: readonly UpgradeCause[] };

/** The revisions of an upgrade, and its rules. */
export interface UpgradeWork {
  readonly before: TemplateInUse;
  readonly after: TemplateInUse;
  /** `{"rules": […]}` */
  readonly rules: JsonValue;
}

type Rules = Pick<ChangeSettings, 'checkRmRules' | 'checkExtraNodes' | 'checkContainerCardinality'>;

/** A COMPOSITION that is valid as it is, or as rules leave it, which nobody has judged yet. */
type MappedContent =
  | Exclude<JudgedContent, { readonly kind: 'mappable' }>
  | { readonly kind: 'mapped'; readonly content: JsonObject };

/** Prepares judging. @throws invalid for rules that are none, and paths that no revision has */
export function judgeBy(work: UpgradeWork, settings: Rules): (version: VersionDoc) => JudgedContent {
  const map = mapBy(work, settings);
  return (version) => {
    const made = map(version);
    if (made.kind !== 'mapped') return made;
    const mapped = judged(made.content, { after: work.after, settings, state: stateOf(version) });
    return mapped.kind === 'valid' ? { ...mapped, kind: 'mappable' } : mapped;
  };
}

/** Prepares the rules, for who judges what comes out by itself. @throws as `judgeBy` */
export function mapBy(
  { before, after, rules }: UpgradeWork,
  settings: Rules,
): (version: VersionDoc) => MappedContent {
  const read: readonly UpgradeRule[] = readRules(rules);
  const upgrade = upgradeBy(read, before.compiled, after.compiled);
  return (version) => {
    const stored = jsonOf(version.data ?? 'null');
    if (!isJsonObject(stored)) return NO_OBJECT;
    const asItIs = judged(stored, { after, settings, state: stateOf(version), isSoonest: true });
    if (asItIs.kind === 'valid') return asItIs;
    const { composition, problems } = upgrade(stored);
    const [problem] = problems;
    if (problem === undefined) return { kind: 'mapped', content: composition };
    const { rule, path, reason } = problem;
    return { kind: 'invalid', causes: [{ path, message: `rule ${rule}: ${reason}` }] };
  };
}

const NO_OBJECT = { kind: 'invalid', causes: [{ path: '/', message: 'it is no JSON object' }] } as const;

/** Prepares judging by a template without any rules. */
export function asItIs(
  after: TemplateInUse,
  settings: Rules,
): (version: VersionDoc) => Exclude<JudgedContent, { readonly kind: 'mappable' }> {
  return (version) => {
    const stored = jsonOf(version.data ?? 'null');
    return isJsonObject(stored) ? judged(stored, { after, settings, state: stateOf(version) }) : NO_OBJECT;
  };
}

/** The lifecycle state of a VERSION. */
export function stateOf({ lifecycle_state: state }: VersionDoc): LifecycleState {
  return lifecycleStateOf({ code: textAt(state, 'defining_code', 'code_string') });
}

interface Judging {
  readonly after: TemplateInUse;
  readonly settings: Rules;
  readonly state: LifecycleState;
  /** Whoever asks wants to know whether it is valid, not all that is wrong. */
  readonly isSoonest?: boolean;
}

function judged(
  content: JsonObject,
  { after, settings, state, isSoonest = false }: Judging,
): Exclude<JudgedContent, { readonly kind: 'mappable' }> {
  const { object, violations: unread } = readRm(content, 'COMPOSITION');
  const { formerTexts } = after;
  const { checkRmRules, checkExtraNodes, checkContainerCardinality } = settings;
  const rules = {
    checkRmRules,
    checkExtraNodes,
    checkContainerCardinality,
    lenient: isLenient(state),
    acceptsFindings: false,
    ...(formerTexts !== undefined && { formerTexts }),
  };
  if (object === null) return { kind: 'invalid', causes: unread.map(causeOf) };
  // The template says it sooner than the reference model does, which most stored content keeps anyway.
  const byTemplate = isSoonest
    ? validateContent(object, after.compiled, { ...rules, checkRmRules: false })
    : null;
  const { violations, valueSetCodes } =
    byTemplate !== null && byTemplate.violations.length > 0
      ? byTemplate
      : validateContent(object, after.compiled, rules);
  if (violations.length === 0) return { kind: 'valid', content, isUnproven: valueSetCodes.length > 0 };
  return { kind: 'invalid', causes: violations.map(causeOf) };
}

/** By its node ids, not by where it stands in a document. */
export function causeOf({ path, aqlPath = path, message }: Violation): UpgradeCause {
  return { path: aqlPath, message };
}
