import { LRUCache } from 'lru-cache';
import { all, any, FALSE, holds, not, ofType, type Condition, type Permitted } from './condition.js';
import { subjectValue, type Request } from './known.js';
import { CONTENT_ATTRIBUTES } from './attributes.js';
import { attributeOf, type AccessObject } from './object.js';
import type { Policy } from './policy.js';

/** What policies say of one object. */
export interface Decision {
  readonly isPermitted: boolean;
  /** Ids of those that decided; none: nothing permits it. */
  readonly policies: readonly string[];
}

/** What is permitted to one who asks. */
export type RulesOfRequest = Pick<Rules, 'permitted' | 'decide'>;

/** Where it is found what is permitted: all policies, or what else restricts a request. */
export interface RuleSource {
  /** Whether anything is asked that only the content of a VERSION says. */
  readonly asksContent: boolean;
  /** Whether tags of the EHR are asked for. */
  readonly asksTags: boolean;
  /** What refuses, as users are told; absent: no policy of access permits it. */
  readonly refusedBy?: string;
  rulesFor(request: Request): RulesOfRequest;
}

/** Requests of which the rules are kept: those of different people who are alike to the policies are one. */
const KEPT_RULES = 1_000;

/** All policies that hold at a time. docs/access.md#decisions */
export class PolicySet implements RuleSource {
  readonly #reads: readonly string[];
  /** Whether any policy asks for what only the content of a VERSION says. */
  readonly asksContent: boolean;
  /** Whether any policy asks for tags of the EHR. */
  readonly asksTags: boolean;
  readonly #rules = new LRUCache<string, Rules>({ max: KEPT_RULES });

  constructor(private readonly policies: readonly Policy[]) {
    this.#reads = [...new Set(policies.flatMap(({ reads }) => reads))].sort();
    this.asksTags = policies.some((policy) => policy.asksTags);
    this.asksContent = policies.some(({ asks }) => asks.some((name) => CONTENT_ATTRIBUTES.includes(name)));
  }

  /** What holds for a request, whatever it is for. */
  rulesFor(request: Request): Rules {
    const { subject, action } = request;
    const key = JSON.stringify([action, this.#reads.map((name) => subjectValue(subject, name) ?? null)]);
    const kept = this.#rules.get(key);
    if (kept !== undefined) return kept;
    const rules = new Rules(this.policies, request);
    this.#rules.set(key, rules);
    return rules;
  }
}

interface Rule {
  readonly id: string;
  readonly condition: Condition;
}

/** What a set of policies says of objects for one who asks. */
export class Rules {
  readonly #permits: IndexedRules;
  readonly #forbids: IndexedRules;
  /** What is permitted, as conditions that queries are narrowed by. */
  readonly permitted: Permitted;

  constructor(policies: readonly Policy[], request: Request) {
    const rulesOf = (effect: Policy['effect']): Rule[] =>
      policies
        .filter((policy) => policy.effect === effect)
        .map(({ id, about }) => ({ id, condition: about(request) }))
        .filter(({ condition }) => condition !== FALSE);
    const [permits, forbids] = [rulesOf('permit'), rulesOf('forbid')];
    this.#permits = new IndexedRules(permits);
    this.#forbids = new IndexedRules(forbids);
    const whole = all([
      any(permits.map(({ condition }) => condition)),
      not(any(forbids.map(({ condition }) => condition))),
    ]);
    this.permitted = { ehr: ofType(whole, 'Ehr'), version: ofType(whole, 'Version') };
  }

  /** Whether an object is permitted, and by which policies: forbidding ones win. */
  decide(object: AccessObject): Decision {
    const forbidding = this.#forbids.fitting(object);
    if (forbidding.length > 0) return { isPermitted: false, policies: forbidding };
    const permitting = this.#permits.fitting(object);
    return { isPermitted: permitting.length > 0, policies: permitting };
  }
}

/** What most policies are about. */
const INDEXED = 'template_id';

/** Rules, those about one template found by it: ten thousand policies are mostly about others. */
class IndexedRules {
  readonly #byTemplate = new Map<string | number, Rule[]>();
  readonly #others: Rule[] = [];

  constructor(rules: readonly Rule[]) {
    for (const rule of rules) {
      const templates = templatesOf(rule.condition);
      if (templates === null) this.#others.push(rule);
      for (const template of templates ?? []) {
        const known = this.#byTemplate.get(template);
        if (known === undefined) this.#byTemplate.set(template, [rule]);
        else known.push(rule);
      }
    }
  }

  /** Ids of the rules that an object fits, sorted. */
  fitting(object: AccessObject): string[] {
    const template = attributeOf(object, INDEXED);
    const ofTemplate = typeof template === 'string' ? (this.#byTemplate.get(template) ?? []) : [];
    return [...this.#others, ...ofTemplate]
      .filter(({ condition }) => holds(condition, object))
      .map(({ id }) => id)
      .sort();
  }
}

/** The templates outside of which a condition never holds; null: it may hold anywhere. */
function templatesOf(condition: Condition): ReadonlySet<string | number> | null {
  if (condition.kind === 'equals' && condition.attribute === INDEXED) return new Set(condition.among);
  if (condition.kind !== 'all') return null;
  return condition.of.map((each) => templatesOf(each)).find((templates) => templates !== null) ?? null;
}
