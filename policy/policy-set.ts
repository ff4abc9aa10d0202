import { LRUCache } from 'lru-cache';
import { all, any, FALSE, holds, not, ofType, TRUE, type Condition, type Permitted } from './condition.js';
import { subjectValue, type Request } from './known.js';
import { CONTENT_ATTRIBUTES } from './attributes.js';
import { CATEGORIES_ATTRIBUTE, NO_CATEGORIES, withCategoriesNamed, type CategoryMap } from './categories.js';
import { MARK_POLICIES, type MarkKind } from './marks.js';
import { attributeOf, type AccessObject } from './object.js';
import type { Policy } from './policy.js';

/** What policies say of one object. */
export interface Decision {
  readonly isPermitted: boolean;
  /** Ids of those that decided; none: nothing permits it, or marks forbid what is permitted else. */
  readonly policies: readonly string[];
  /** Kinds of the marks that forbid it. */
  readonly marks: readonly MarkKind[];
  /** Whether marks alone stand against it. */
  readonly isBarredByMarks: boolean;
}

/** What is permitted to one who asks. */
export type RulesOfRequest = Pick<Rules, 'permitted' | 'leastPatients' | 'decide'>;

/** Where it is found what is permitted: all policies, or what else restricts a request. */
export interface RuleSource {
  /** Whether anything is asked that only the content of a VERSION says. */
  readonly asksContent: boolean;
  /** Whether tags of the EHR are asked for. */
  readonly asksTags: boolean;
  /** Whether anything is asked of the EHR but its id: its tags, its marks, or whose it is. */
  readonly asksEhr: boolean;
  /** Whether marks of the EHR say anything. */
  readonly asksMarks: boolean;
  /** Whether they hold, or none do. */
  readonly mindsMarks: boolean;
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
  /** Whether marks say anything, or policies ask for them. */
  readonly asksMarks: boolean;
  /** Whether anything is asked of the EHR but its id. */
  readonly asksEhr: boolean;
  readonly #rules = new LRUCache<string, Rules>({ max: KEPT_RULES });

  /** `mindsMarks`: there are marks, which hold too. `categories`: what content is of which, beside openEHR's own. */
  constructor(
    private readonly policies: readonly Policy[],
    readonly mindsMarks = false,
    readonly categories = NO_CATEGORIES,
  ) {
    const marks = mindsMarks ? MARK_POLICIES : [];
    this.#reads = [...new Set([...policies, ...marks].flatMap(({ reads }) => reads))].sort();
    this.asksMarks = mindsMarks || policies.some(({ asks }) => asks.includes('marks'));
    this.asksTags = policies.some((policy) => policy.asksTags);
    this.asksEhr = this.asksTags || this.asksMarks || policies.some(({ asks }) => asks.includes('namespace'));
    this.asksContent = policies.some(({ asks }) => asks.some((name) => CONTENT_ATTRIBUTES.includes(name)));
  }

  /** What holds for a request, whatever it is for. */
  rulesFor(request: Request): Rules {
    const { subject, action, isEmergency = false } = request;
    const key = JSON.stringify([
      action,
      isEmergency,
      this.#reads.map((name) => subjectValue(subject, name) ?? null),
    ]);
    const kept = this.#rules.get(key);
    if (kept !== undefined) return kept;
    const rules = new Rules(this.policies, request, this.mindsMarks ? MARK_POLICIES : [], this.categories);
    this.#rules.set(key, rules);
    return rules;
  }
}

interface Rule {
  readonly id: string;
  readonly condition: Condition;
  readonly leastPatients: number | null;
}

function ruleOf(policy: Policy, request: Request, categories: CategoryMap): Rule {
  const { id, effect, asks, about, leastPatients } = policy;
  const said = about(request);
  const condition = asks.includes(CATEGORIES_ATTRIBUTE)
    ? withCategoriesNamed(said, categories, effect === 'forbid')
    : said;
  return { id, condition, leastPatients };
}

/** What a set of policies says of objects for one who asks. */
export class Rules {
  readonly #permits: IndexedRules;
  readonly #forbids: IndexedRules;
  readonly #marks: readonly Rule[];
  /** What is permitted, as conditions that queries are narrowed by. */
  readonly permitted: Permitted;
  /** Counts alone are answered, of so many patients each; null: whatever is asked for. */
  readonly leastPatients: number | null;

  /** `marks`: what these forbid. Where nothing else is there they forbid what everybody is permitted. */
  constructor(
    policies: readonly Policy[],
    request: Request,
    marks: readonly Policy[] = [],
    categories = NO_CATEGORIES,
  ) {
    const { roles } = request.subject;
    // Most of many are about what others do: these are told apart before their conditions are made.
    const isInForce = ({ effect, isOfEmergency, role }: Policy): boolean =>
      (role === null || roles.includes(role)) &&
      (!isOfEmergency || (effect === 'permit') === (request.isEmergency === true));
    const rulesOf = (all: readonly Policy[], effect: Policy['effect']): Rule[] =>
      all
        .filter((policy) => policy.effect === effect && isInForce(policy))
        .map((policy) => ruleOf(policy, request, categories))
        .filter(({ condition }) => condition !== FALSE);
    const isOpen = policies.length === 0 && marks.length > 0;
    const permits = isOpen ? [{ id: '', condition: TRUE, leastPatients: null }] : rulesOf(policies, 'permit');
    const forbids = rulesOf(policies, 'forbid');
    this.#marks = rulesOf(marks, 'forbid');
    this.#permits = new IndexedRules(permits);
    this.#forbids = new IndexedRules(forbids);
    const whole = all([
      any(permits.map(({ condition }) => condition)),
      not(any([...forbids, ...this.#marks].map(({ condition }) => condition))),
    ]);
    const counted = permits.flatMap(({ leastPatients }) => leastPatients ?? []);
    this.leastPatients = counted.reduce<number | null>((most, each) => Math.max(most ?? 0, each), null);
    this.permitted = { ehr: ofType(whole, 'Ehr'), version: ofType(whole, 'Version') };
  }

  /** Whether an object is permitted, and by which policies: forbidding ones win. */
  decide(object: AccessObject): Decision {
    const marks = this.#marks
      .filter(({ condition }) => holds(condition, object))
      .map(({ id }) => id as MarkKind);
    const forbidding = this.#forbids.fitting(object);
    if (forbidding.length > 0)
      return { isPermitted: false, policies: forbidding, marks, isBarredByMarks: false };
    const permitting = this.#permits.fitting(object);
    if (permitting.length === 0) return { isPermitted: false, policies: [], marks, isBarredByMarks: false };
    if (marks.length > 0) return { isPermitted: false, policies: [], marks, isBarredByMarks: true };
    const policies = permitting.filter((id) => id !== '');
    return { isPermitted: true, policies, marks, isBarredByMarks: false };
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
