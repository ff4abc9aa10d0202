import { isJsonObject, jsonOf, type JsonObject, type JsonValue } from '../openehr/base/json.js';
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

/** Prepares judging. @throws invalid for rules that are none, and paths that no revision has */
export function judgeBy(
  { before, after, rules }: UpgradeWork,
  settings: Rules,
): (version: VersionDoc) => JudgedContent {
  const read: readonly UpgradeRule[] = readRules(rules);
  const upgrade = upgradeBy(read, before.compiled, after.compiled);
  return (version) => {
    const stored = jsonOf(version.data ?? 'null');
    if (!isJsonObject(stored)) return invalid('/', 'it is no JSON object');
    const state = stateOf(version);
    const asItIs = judged(stored, { after, settings, state });
    if (asItIs.kind === 'valid') return asItIs;
    const { composition, problems } = upgrade(stored);
    const [problem] = problems;
    if (problem !== undefined) return invalid(problem.path, `rule ${problem.rule}: ${problem.reason}`);
    const mapped = judged(composition, { after, settings, state });
    return mapped.kind === 'valid' ? { ...mapped, kind: 'mappable' } : mapped;
  };
}

/** Prepares judging by a template without any rules. */
export function asItIs(
  after: TemplateInUse,
  settings: Rules,
): (version: VersionDoc) => Exclude<JudgedContent, { readonly kind: 'mappable' }> {
  return (version) => {
    const stored = jsonOf(version.data ?? 'null');
    if (!isJsonObject(stored))
      return { kind: 'invalid', causes: [{ path: '/', message: 'it is no JSON object' }] };
    return judged(stored, { after, settings, state: stateOf(version) });
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
}

function judged(
  content: JsonObject,
  { after, settings, state }: Judging,
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
  const { violations, valueSetCodes } =
    object === null
      ? { violations: unread, valueSetCodes: [] }
      : validateContent(object, after.compiled, rules);
  if (violations.length === 0) return { kind: 'valid', content, isUnproven: valueSetCodes.length > 0 };
  // By their node ids, not by where they stand in a document.
  const causes = violations.map(({ path, aqlPath = path, message }) => ({ path: aqlPath, message }));
  return { kind: 'invalid', causes };
}

function invalid(path: string, message: string): JudgedContent {
  return { kind: 'invalid', causes: [{ path, message }] };
}
