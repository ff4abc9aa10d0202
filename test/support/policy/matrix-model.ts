/**
 * What marks, roles and purposes mean for each kind of operation, as docs/access.md says it and by nothing of the product: a second
 * account of the same rules, which the matrix compares with what is answered.
 */

/** What is on an EHR. */
export const MARKS = [
  'none',
  'restriction_of_processing',
  'patient_restriction',
  'research_objection',
] as const;
export type Mark = (typeof MARKS)[number];

/** Who asks, with the permissions of his roles; `OWN`: the patient, by a token that names the EHR. */
export const WHO = {
  NOBODY: null,
  STRANGER: [],
  READER: ['read'],
  USER: ['read', 'write', 'define', 'draft'],
  OWN: ['read', 'write', 'define', 'draft'],
  AUDITOR: ['read', 'audit'],
  NIGHT: ['read', 'write', 'emergency'],
  ADMIN: ['read', 'write', 'write_lenient', 'define', 'draft', 'admin', 'audit', 'restore'],
} as const satisfies Readonly<Record<string, readonly string[] | null>>;
export type Who = keyof typeof WHO;

/** What for, by the claim of the token and by headers. */
interface Purpose {
  readonly claim?: string;
  readonly header?: string;
  readonly reason?: string;
}

export const PURPOSES: Readonly<Record<string, Purpose>> = {
  none: {},
  care: { claim: 'TREAT' },
  research: { claim: 'HRESCH' },
  'clinical trial': { claim: 'CLINTRCH' },
  'emergency by its token, without a reason': { claim: 'ETREAT' },
  'emergency by its token': { claim: 'ETREAT', reason: 'unconscious' },
  'breaking the glass': { header: 'BTG', reason: 'unconscious' },
  'breaking the glass while in care': { claim: 'TREAT', header: 'ETREAT', reason: 'unconscious' },
  'breaking the glass for research': { claim: 'HRESCH', header: 'BTG', reason: 'unconscious' },
  'breaking the glass without a reason': { header: 'BTG' },
  'another purpose by header': { header: 'TREAT', reason: 'ward round' },
  'a reason alone': { reason: 'unconscious' },
};

/** What is known of an operation: from its row, which says who may and what it gives. */
export interface Row {
  readonly access: string;
  readonly discloses: string;
  /** Whether it is about the EHR that its request names: else a list, of which something is absent. */
  readonly isAboutOne: boolean;
  /** Whether its request names one EHR, finds one patient or makes a record: an emergency is for no more. */
  readonly isForOne: boolean;
  /** Whether it only writes down what is new, in an EHR that is there. */
  readonly onlyCreates: boolean;
}

/** How it must be answered: with a status, as where nothing is marked, or as where nothing is there. */
export type Expected =
  { readonly status: 400 | 401 | 403 | 409; readonly isRestricted: boolean } | 'as unmarked' | 'as absent';

const RESEARCH = ['HRESCH', 'CLINTRCH'];
const EMERGENCIES = ['ETREAT', 'BTG'];

/** What must be answered to this one, for this purpose, about an EHR with this mark. */
export function expectedOf(row: Row, { mark, who, purpose }: Asked): Expected {
  const wall = wallOf(row, who);
  if (wall !== null) return { status: wall, isRestricted: false };
  const stated = emergencyOf(row, who, PURPOSES[purpose] ?? {});
  if (typeof stated === 'number') return { status: stated, isRestricted: false };
  if (row.discloses === 'nothing' || row.discloses === 'whole') return 'as unmarked';
  if (stated && !row.isForOne) return { status: 400, isRestricted: false };
  if (!isHidden(row, { mark, who, purpose }, stated)) return 'as unmarked';
  if (mark !== 'restriction_of_processing') return 'as absent';
  return restricted(row, who);
}

/** One cell of the matrix. */
export interface Asked {
  readonly mark: Mark;
  readonly who: Who;
  /** Name of one of `PURPOSES`. */
  readonly purpose: string;
}

/** The outer wall: permissions of operations, before anything is looked at. */
function wallOf({ access }: Row, who: Who): 401 | 403 | null {
  if (access === 'open') return null;
  const permissions: readonly string[] | null = WHO[who];
  if (permissions === null) return 401;
  const isEnough =
    access === 'anyone' || access === 'identified' ? permissions.length > 0 : permissions.includes(access);
  return isEnough ? null : 403;
}

/** Whether it is an emergency; a status where it is badly stated, or may not be. */
function emergencyOf({ access }: Row, who: Who, purpose: Purpose): boolean | 400 | 403 {
  const { header, reason } = purpose;
  if (header === undefined && reason === undefined) return false;
  // What is open to everybody asks nobody who he is.
  const isKnown = access !== 'open';
  const claim = (isKnown && purpose.claim) || '';
  if (!EMERGENCIES.includes(header ?? claim) || reason === undefined) return 400;
  const permissions: readonly string[] = WHO[who] ?? [];
  if (!isKnown || !permissions.includes('emergency')) return 403;
  return RESEARCH.includes(claim) ? 403 : true;
}

function isHidden({ onlyCreates }: Row, { mark, who, purpose }: Asked, isEmergency: boolean): boolean {
  switch (mark) {
    case 'none':
      return false;
    case 'restriction_of_processing':
      return true;
    case 'patient_restriction':
      return who !== 'OWN' && !isEmergency && !onlyCreates;
    case 'research_objection':
      return !isEmergency && RESEARCH.includes(PURPOSES[purpose]?.claim ?? '');
  }
}

/** Whoever may know is told of what he asks for by name; a write is refused to everybody; lists leave it out. */
function restricted({ discloses, isAboutOne }: Row, who: Who): Expected {
  if (!isAboutOne) return 'as absent';
  if (!['read', 'query', 'export'].includes(discloses)) return { status: 409, isRestricted: true };
  const permissions: readonly string[] = WHO[who] ?? [];
  const mayKnow = permissions.includes('admin') || permissions.includes('audit');
  return mayKnow ? { status: 403, isRestricted: true } : 'as absent';
}
