import { all, holds, type Permitted } from './condition.js';
import type { Request } from './known.js';
import type { AccessObject } from './object.js';
import type { Decision, RuleSource, RulesOfRequest } from './policy-set.js';
import type { AskedQuery, SmartGrants } from './smart-grants.js';

/** Policies and the scopes of a token: what both permit. Of one request. docs/smart.md#with-policies */
export class ScopedRules implements RuleSource {
  readonly asksContent: boolean;
  readonly asksTags: boolean;
  readonly asksEhr: boolean;
  readonly asksMarks: boolean;
  readonly mindsMarks: boolean;
  readonly refusedBy: string;
  readonly #rules = new Map<string, RulesOfRequest>();

  /** `base`: null where no policy restricts anything. `query`: the one that is executed; null: none is. `mindsMarks`: without a `base`. */
  constructor(
    private readonly grants: SmartGrants,
    private readonly query: AskedQuery | null,
    private readonly base: RuleSource | null,
    { mindsMarks }: Pick<RuleSource, 'mindsMarks'>,
  ) {
    this.asksContent = base?.asksContent ?? false;
    this.asksTags = base?.asksTags ?? false;
    // Scopes are about the id of the EHR, and about what is in it.
    this.asksEhr = base?.asksEhr ?? false;
    this.asksMarks = base?.asksMarks ?? false;
    this.mindsMarks = base?.mindsMarks ?? mindsMarks;
    this.refusedBy =
      base === null ? 'no scope of the token' : 'no scope of the token, or no policy of access,';
  }

  /** What holds for who asks, who is the same all the time but for the purpose. */
  rulesFor(request: Request): RulesOfRequest {
    const key = `${request.action} ${request.isEmergency === true} ${request.subject.purpose ?? ''}`;
    const kept = this.#rules.get(key);
    if (kept !== undefined) return kept;
    const granted = this.grants.permitted(request, this.query);
    const base = this.base?.rulesFor(request) ?? null;
    const rules = base === null ? scopesAlone(granted) : both(granted, base);
    this.#rules.set(key, rules);
    return rules;
  }
}

function scopesAlone(permitted: Permitted): RulesOfRequest {
  return { permitted, leastPatients: null, decide: (object) => decisionOf(grants(permitted, object)) };
}

/** Of scopes, which no policy made. */
function decisionOf(isPermitted: boolean): Decision {
  return { isPermitted, policies: [], marks: [], isBarredByMarks: false };
}

function both(granted: Permitted, base: RulesOfRequest): RulesOfRequest {
  return {
    permitted: {
      ehr: all([granted.ehr, base.permitted.ehr]),
      version: all([granted.version, base.permitted.version]),
    },
    leastPatients: base.leastPatients,
    decide: (object): Decision => {
      const decision = base.decide(object);
      if (grants(granted, object)) return decision;
      // What the scopes do not give either is not withheld by marks alone.
      return decision.isPermitted ? decisionOf(false) : { ...decision, isBarredByMarks: false };
    },
  };
}

function grants({ ehr, version }: Permitted, object: AccessObject): boolean {
  return holds(object.type === 'Ehr' ? ehr : version, object);
}
