import type { Action } from '../../../policy/subject.js';
import type { AccessReport, Cdr, ListedEhr, Mark, Purpose, SetMark } from '@everchart/client';

const POLICIES = '/rest/admin/policies';

/** A policy of access as it is stored. */
export interface StoredPolicy {
  readonly id: string;
  /** In Cedar. */
  readonly policy: string;
  readonly version: number;
  readonly time: string;
  readonly by: string;
}

/** A version of a policy; without text it was removed. */
interface PolicyVersion extends Omit<StoredPolicy, 'id' | 'policy'> {
  readonly policy: string | null;
  /** The second person, where it took two. */
  readonly confirmed_by?: string;
}

/** What the server says of a text; the place is counted from 1. */
export interface PolicyFinding {
  /** `advice`: it holds all the same. */
  readonly kind: 'syntax' | 'schema' | 'translation' | 'advice';
  readonly message: string;
  readonly line?: number;
  readonly column?: number;
}

/** Who asks, as policies see him. */
export interface Principal {
  readonly sub: string;
  readonly roles: readonly string[];
  readonly organisation?: string;
  readonly purpose?: string;
  /** The record of a patient's own token. */
  readonly ehr?: string;
  readonly client?: string;
}

/** Who asks for what. */
interface AccessQuestion {
  readonly principal: Principal;
  readonly action: Action;
  readonly resource: { readonly ehr_id: string; readonly uid?: string };
  readonly emergency: boolean;
}

/** What is decided, and by what. */
export interface AccessDecision {
  readonly decision: 'permit' | 'forbid';
  /** Ids of those that decided. */
  readonly policies: readonly string[];
  readonly marks: readonly Mark['kind'][];
}

/** How many come to be seen, and how many are seen no more. */
export interface SeenChange {
  readonly gained: number;
  readonly lost: number;
}

/** What a draft of all policies changes for one who asks for one action. */
export interface AccessDifference {
  /** Which of the principals, from 0. */
  readonly principal: number;
  readonly action: Action;
  readonly ehrs: SeenChange;
  readonly versions: SeenChange;
  /** Of the versions, by template; of what has none by its class. */
  readonly templates: Readonly<Record<string, SeenChange>>;
}

/** Something for which a draft decides otherwise. */
export interface AccessExample {
  readonly principal: number;
  readonly action: Action;
  readonly decision: 'permit' | 'forbid';
  readonly policies: readonly string[];
  readonly ehr_id: string;
  readonly uid?: string;
  readonly template_id?: string;
}

/** How a draft differs from what is stored. */
export interface AccessComparison {
  readonly examined: { readonly ehrs: number; readonly versions: number };
  readonly complete: boolean;
  readonly differences: readonly AccessDifference[];
  readonly examples: readonly AccessExample[];
}

/** What policies hid from somebody, or would. */
interface ObservedAccess {
  readonly user: string;
  readonly organisation?: string;
  readonly purpose?: string;
  readonly operation: string;
  readonly count: number;
  readonly last: string;
  readonly policies: readonly string[];
}

/** A page of what policies hid, or would. */
interface Observed {
  readonly from: string;
  readonly complete: boolean;
  readonly observed: readonly ObservedAccess[];
}

/** All that would hold, for whom it is compared. */
interface Draft {
  readonly policies: readonly { readonly id: string; readonly policy: string }[];
  readonly principals: readonly Principal[];
  readonly actions: readonly Action[];
}

/** What of a report is wanted: between two times. */
export interface ReportedTime {
  readonly from?: string;
  readonly to?: string;
}

/** Who may see what, and who has seen it. */
export interface AccessApi {
  /** By id. */
  policies: () => Promise<readonly StoredPolicy[]>;
  /** Oldest first, removals too. */
  policyVersions: (id: string) => Promise<readonly PolicyVersion[]>;
  /** true: it waits for a second person. @throws CdrError 409 `conflict` where no administrator could change policies any more */
  savePolicy: (id: string, text: string) => Promise<boolean>;
  /** true: it waits for a second person. */
  removePolicy: (id: string) => Promise<boolean>;
  /** What is wrong with a text; nothing is stored. */
  checkPolicy: (text: string) => Promise<readonly PolicyFinding[]>;
  decide: (question: AccessQuestion) => Promise<AccessDecision>;
  comparePolicies: (draft: Draft) => Promise<AccessComparison>;
  observed: () => Promise<Observed>;
  /** The oldest first; also those that were lifted. */
  marks: (ehrId: string) => Promise<readonly SetMark[]>;
  /** Categories of documents that a mark may be about. */
  markCategories: (ehrId: string) => Promise<readonly string[]>;
  /** Beside those that hold now. */
  addMark: (ehrId: string, mark: Mark) => Promise<void>;
  /** Those that were set meanwhile stay. */
  liftMark: (ehrId: string, mark: SetMark) => Promise<void>;
  /** Who is found by the whole of an identifier if it is said to be an emergency. */
  ehrsNamedInEmergency: (identifier: string, purpose: Purpose) => Promise<readonly ListedEhr[]>;
  /** Who saw or changed a record, newest first, a page at a time. */
  accessReport: (
    ehrId: string,
    page: ReportedTime & { readonly language: 'en' | 'de'; readonly after?: string },
  ) => Promise<AccessReport>;
  /** All of it. */
  accessReportCsv: (ehrId: string, of: ReportedTime & { readonly language: 'en' | 'de' }) => Promise<string>;
}

/** The status of what waits for a second person. */
const WAITS = 202;
/** As many as a person reads. */
const ACCESSES_AT_ONCE = 500;
/** The most that the server gives at once. */
const MOST_ACCESSES = 1_000;

/** The part of the API that is about who may see what. */
export function accessApi(cdr: Cdr): AccessApi {
  const policyPath = (id: string): string => `${POLICIES}/${encodeURIComponent(id)}`;
  return {
    policies: async () =>
      (await cdr.request<{ policies: readonly StoredPolicy[] }>('GET', POLICIES)).body.policies,
    policyVersions: async (id) =>
      (await cdr.request<{ versions: readonly PolicyVersion[] }>('GET', `${policyPath(id)}/versions`)).body
        .versions,
    savePolicy: async (id, policy) => {
      const { status } = await cdr.request('PUT', policyPath(id), { body: { policy } });
      return status === WAITS;
    },
    removePolicy: async (id) => (await cdr.request('DELETE', policyPath(id))).status === WAITS,
    checkPolicy: async (policy) => {
      const sent = { body: { policy } };
      return (await cdr.request<{ findings: readonly PolicyFinding[] }>('POST', `${POLICIES}/validate`, sent))
        .body.findings;
    },
    decide: async (body) => (await cdr.request<AccessDecision>('POST', `${POLICIES}/decide`, { body })).body,
    comparePolicies: async (body) =>
      (await cdr.request<AccessComparison>('POST', `${POLICIES}/compare`, { body })).body,
    observed: async () => (await cdr.request<Observed>('GET', `${POLICIES}/observed`)).body,
    marks: (ehrId) => cdr.ehr(ehrId).marks.list({ history: true }),
    markCategories: (ehrId) => cdr.ehr(ehrId).marks.categories(),
    addMark: async (ehrId, mark) => {
      const { marks } = cdr.ehr(ehrId);
      await marks.set([...(await marks.list()), mark]);
    },
    liftMark: async (ehrId, mark) => {
      const { marks } = cdr.ehr(ehrId);
      const lifted = JSON.stringify(mark);
      await marks.set((await marks.list()).filter((each) => JSON.stringify(each) !== lifted));
    },
    ehrsNamedInEmergency: async (identifier, { code, reason }) =>
      (await cdr.inEmergency(reason, code).ehr.search(identifier)).ehrs,
    accessReport: (ehrId, page) => cdr.admin.accessReport(ehrId, { ...page, fetch: ACCESSES_AT_ONCE }),
    accessReportCsv: async (ehrId, of) => {
      const path = `/rest/ehrs/${encodeURIComponent(ehrId)}/access`;
      let text = '';
      for (let after: string | null | undefined; after !== null;) {
        const query = { ...of, after, fetch: MOST_ACCESSES };
        const { body, headers } = await cdr.request<string>('GET', path, { query, accept: 'text/csv' });
        // Its header stands once.
        text += text === '' ? body : body.slice(body.indexOf('\n') + 1);
        after = nextIn(headers.get('link'));
      }
      return text;
    },
  };
}

/** The `after` of the next page. */
function nextIn(link: string | null): string | null {
  const [, address] = /<([^>]*)>; rel="next"/.exec(link ?? '') ?? [];
  return address === undefined ? null : new URL(address, 'http://server').searchParams.get('after');
}
