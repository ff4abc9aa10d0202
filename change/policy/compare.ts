import { setImmediate } from 'node:timers/promises';
import { CdrError } from '../../openehr/base/errors.js';
import { marksOfEhr } from '../../models/cross-collection/marked-ehrs.js';
import { policyEhr, policyVersionsOf } from '../../models/cross-collection/policy-objects.js';
import { ehrsAfter } from '../../models/ehr.js';
import type { Request } from '../../policy/known.js';
import { marked } from '../../policy/marks.js';
import { attributeOf, type AccessObject } from '../../policy/object.js';
import type { Policy } from '../../policy/policy.js';
import { PolicySet, type Rules } from '../../policy/policy-set.js';
import { readPolicies, type PolicyFinding } from '../../policy/read-policy.js';
import { livePolicies } from './live-policies.js';

/** EHRs, and objects in all of them, that one comparison looks at. */
export const COMPARED_EHRS = 1_000;
export const COMPARED_OBJECTS = 10_000;
/** Objects that a comparison names. */
const COMPARED_EXAMPLES = 100;

/** A set of policies that is not stored. */
interface DraftSet {
  readonly set: PolicySet;
  readonly count: number;
}

/** A policy of a draft. */
interface DraftPolicy {
  readonly id: string;
  readonly policy: string;
}

/** How many objects one request may see that it may not see now, or the other way round. */
interface Change {
  readonly gained: number;
  readonly lost: number;
}

/** What a draft changes for one who asks. */
interface Difference {
  /** Number of the request. */
  readonly request: number;
  readonly ehrs: Change;
  readonly versions: Change;
  /** Of the versions, by template; without one under the kind of the object. */
  readonly templates: Readonly<Record<string, Change>>;
}

/** An object for which a draft decides otherwise. */
interface Example {
  readonly request: number;
  readonly isPermitted: boolean;
  readonly policies: readonly string[];
  readonly object: AccessObject;
}

/** How a draft differs from the stored policies. */
export interface Comparison {
  readonly examined: { readonly ehrs: number; readonly versions: number };
  /** Whether all that is stored was looked at. */
  readonly isComplete: boolean;
  readonly differences: readonly Difference[];
  readonly examples: readonly Example[];
}

/** Policies that are read at once: others are answered in between. */
const READ_TOGETHER = 50;

/** Reads the policies of a draft. @throws unprocessable with what is wrong with them */
export async function draftSet(drafts: readonly DraftPolicy[]): Promise<DraftSet> {
  const { set } = await livePolicies();
  const policies: Policy[] = [];
  for (let at = 0; at < drafts.length; at += READ_TOGETHER) {
    await setImmediate();
    const part = drafts.slice(at, at + READ_TOGETHER);
    for (const [index, { policy, findings }] of (await readPolicies(part, set.categories)).entries()) {
      if (policy === null) throw unreadable(part[index]?.id ?? '', findings);
      policies.push(policy);
    }
  }
  return { set: new PolicySet(policies, set.mindsMarks, set.categories), count: policies.length };
}

function unreadable(id: string, findings: readonly PolicyFinding[]): CdrError {
  const said = findings
    .map(({ message, line, column }) => `${line ?? 1}:${column ?? 1} ${message}`)
    .join('; ');
  return new CdrError('unprocessable', `the policy ${id}: ${said}`);
}

/** Compares a draft with the stored policies, over stored EHRs in the order of their ids and the latest versions in them. */
export async function comparePolicies(
  draft: DraftSet,
  requests: readonly Request[],
  systemId: string,
): Promise<Comparison> {
  const live = await livePolicies();
  const pairs = requests.map(
    (request, index) => new Tally(index, ruleOf(live, request), ruleOf(draft, request)),
  );
  const examples: Example[] = [];
  const look = (object: AccessObject): void => {
    for (const pair of pairs) {
      const example = pair.add(object);
      if (example !== null && examples.length < COMPARED_EXAMPLES) examples.push(example);
    }
  };
  const { isComplete, ...examined } = await walk(look, systemId);
  return { examined, isComplete, differences: pairs.map((pair) => pair.difference), examples };
}

/** null: there is neither a policy nor a mark, so that nothing is restricted. */
function ruleOf({ set, count }: DraftSet, request: Request): Rules | null {
  return count === 0 && !set.mindsMarks ? null : set.rulesFor(request);
}

async function walk(
  look: (object: AccessObject) => void,
  systemId: string,
): Promise<{ ehrs: number; versions: number; isComplete: boolean }> {
  const found = await ehrsAfter('', COMPARED_EHRS + 1);
  let [ehrs, versions, isComplete] = [0, 0, found.length <= COMPARED_EHRS];
  for (const ehr of found.slice(0, COMPARED_EHRS).filter(({ state }) => state === 'active')) {
    const { object, tags } = await policyEhr(ehr);
    // Whatever organisation a mark is about: those who are compared may be of it.
    const marks = await marksOfEhr(ehr._id);
    look(marked(object, marks));
    ehrs += 1;
    const count = COMPARED_OBJECTS - versions;
    const { objects, containers } = await policyVersionsOf(ehr._id, { tags, systemId, count });
    for (const each of objects) look(marked(each, marks));
    versions += objects.length;
    isComplete &&= containers <= count;
    if (versions >= COMPARED_OBJECTS) return { ehrs, versions, isComplete: false };
  }
  return { ehrs, versions, isComplete };
}

/** Counts what changes for one request. */
class Tally {
  readonly #ehrs = { gained: 0, lost: 0 };
  readonly #versions = { gained: 0, lost: 0 };
  readonly #templates = new Map<string, { gained: number; lost: number }>();

  constructor(
    private readonly request: number,
    private readonly before: Rules | null,
    private readonly after: Rules | null,
  ) {}

  get difference(): Difference {
    const templates = Object.fromEntries(
      [...this.#templates].sort(([one], [other]) => (one < other ? -1 : 1)),
    );
    return { request: this.request, ehrs: this.#ehrs, versions: this.#versions, templates };
  }

  /** Counts an object; what decides if it is decided otherwise. */
  add(object: AccessObject): Example | null {
    const now = decision(this.before, object);
    const then = decision(this.after, object);
    if (now.isPermitted === then.isPermitted) return null;
    const name = then.isPermitted ? 'gained' : 'lost';
    if (object.type === 'Ehr') this.#ehrs[name] += 1;
    else {
      this.#versions[name] += 1;
      const key = String(attributeOf(object, 'template_id') ?? attributeOf(object, 'kind'));
      const counts = this.#templates.get(key) ?? { gained: 0, lost: 0 };
      counts[name] += 1;
      this.#templates.set(key, counts);
    }
    return { request: this.request, ...then, object };
  }
}

function decision(
  rules: Rules | null,
  object: AccessObject,
): { isPermitted: boolean; policies: readonly string[] } {
  return rules === null ? { isPermitted: true, policies: [] } : rules.decide(object);
}
