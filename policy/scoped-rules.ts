import { all, holds, type Permitted } from './condition.js';
import type { Request } from './known.js';
import type { AccessObject } from './object.js';
import type { Decision, RuleSource, RulesOfRequest } from './policy-set.js';
import type { AskedQuery, SmartGrants } from './smart-grants.js';
import type { Action } from './subject.js';

/** Policies and the scopes of a token: what both permit. Of one request. docs/smart.md#with-policies */
export class ScopedRules implements RuleSource {
  readonly asksContent: boolean;
  readonly asksTags: boolean;
  readonly refusedBy: string;
  readonly #rules = new Map<Action, RulesOfRequest>();

  /** `base`: null where no policy restricts anything. `query`: the one that is executed; null: none is. */
  constructor(
    private readonly grants: SmartGrants,
    private readonly query: AskedQuery | null,
    private readonly base: RuleSource | null,
  ) {
    this.asksContent = base?.asksContent ?? false;
    this.asksTags = base?.asksTags ?? false;
    this.refusedBy =
      base === null ? 'no scope of the token' : 'no scope of the token, or no policy of access,';
  }

  /** What holds for who asks, who is the same all the time. */
  rulesFor(request: Request): RulesOfRequest {
    const kept = this.#rules.get(request.action);
    if (kept !== undefined) return kept;
    const granted = this.grants.permitted(request, this.query);
    const base = this.base?.rulesFor(request) ?? null;
    const rules = base === null ? scopesAlone(granted) : both(granted, base);
    this.#rules.set(request.action, rules);
    return rules;
  }
}

function scopesAlone(permitted: Permitted): RulesOfRequest {
  return { permitted, decide: (object) => ({ isPermitted: grants(permitted, object), policies: [] }) };
}

function both(granted: Permitted, base: RulesOfRequest): RulesOfRequest {
  return {
    permitted: {
      ehr: all([granted.ehr, base.permitted.ehr]),
      version: all([granted.version, base.permitted.version]),
    },
    decide: (object): Decision => {
      const decision = base.decide(object);
      return decision.isPermitted && !grants(granted, object)
        ? { isPermitted: false, policies: [] }
        : decision;
    },
  };
}

function grants({ ehr, version }: Permitted, object: AccessObject): boolean {
  return holds(object.type === 'Ehr' ? ehr : version, object);
}
