import type { JwtPayload } from 'jsonwebtoken';
import type { JwtSettings } from '../../config/settings.js';
import { CdrError } from '../../openehr/base/errors.js';
import { nearestWord } from '../../openehr/base/text.js';
import { PURPOSES_OF_USE } from '../../policy/purposes.js';
import { parseEhrId } from '../../openehr/base/object-version-id.js';
import type { SubjectClaims } from '../../routes/http/request/request-state.js';

/** Reads of the claims of a token what policies may ask for. @throws unauthenticated, naming the claim that cannot be read */
export type ClaimReader = (payload: JwtPayload) => SubjectClaims;

/**
 * What a token says of its user beside who he is and his roles. docs/access.md#who-asks
 * @throws unauthenticated for a claim with two values, or of another kind, and for a purpose that nobody knows, naming it
 */
export function subjectClaimsOf(
  payload: JwtPayload,
  names: Pick<
    JwtSettings,
    'claimOrganisation' | 'claimPurpose' | 'otherPurposes' | 'claimEhr' | 'claimOwnEhr'
  >,
): SubjectClaims {
  const organisation = oneText(payload, names.claimOrganisation);
  const purpose = oneText(payload, names.claimPurpose);
  if (purpose !== null) requireKnown(purpose, names);
  return {
    ...(organisation !== null && { organisation }),
    ...(purpose !== null && { purpose }),
    ...claimedEhr(payload, 'ehr', names.claimOwnEhr),
    ...claimedEhr(payload, 'openedFor', names.claimEhr),
    scopes: scopesOf(payload),
  };
}

/** Of a purpose that is written otherwise nobody could tell that it is research. */
function requireKnown(
  purpose: string,
  { claimPurpose, otherPurposes }: Pick<JwtSettings, 'claimPurpose' | 'otherPurposes'>,
): void {
  const known = [...PURPOSES_OF_USE, ...otherPurposes];
  if (known.includes(purpose)) return;
  const upper = purpose.toUpperCase();
  const meant = known.includes(upper) ? upper : nearestWord(upper, known);
  const question = meant === null ? '' : `, did you mean ${meant}?`;
  throw new CdrError(
    'unauthenticated',
    `the claim ${claimPurpose} is no code of HL7 PurposeOfUse and none of PURPOSES_OF_USE${question}`,
  );
}

/** One text, or a list of one; null: there is none. */
function oneText(payload: JwtPayload, path: string): string | null {
  const value = valueAt(payload, path);
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  const given = new Set(values.filter((each) => each !== undefined && each !== null && each !== ''));
  const [first] = given;
  if (first === undefined) return null;
  if (given.size > 1) throw new CdrError('unauthenticated', `the claim ${path} has two values`);
  if (typeof first !== 'string') throw new CdrError('unauthenticated', `the claim ${path} is no text`);
  return first;
}

function claimedEhr(
  payload: JwtPayload,
  as: 'ehr' | 'openedFor',
  claim: string,
): Pick<SubjectClaims, 'ehr' | 'openedFor'> {
  const text = oneText(payload, claim);
  if (text === null) return {};
  const id = parseEhrId(text);
  if (id === null) throw new CdrError('unauthenticated', `the claim ${claim} is no EHR id`);
  return { [as]: { id, claim } };
}

function valueAt(payload: JwtPayload, path: string): unknown {
  let value: unknown = payload;
  for (const step of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[step];
  }
  return value;
}

/** Words of `scope` (RFC 8693), or the members of a list. */
export function scopesOf(payload: JwtPayload): string[] {
  const scope: unknown = payload.scope;
  const words: readonly unknown[] =
    typeof scope === 'string' ? scope.split(/\s+/) : Array.isArray(scope) ? scope : [];
  return [...new Set(words.filter((word): word is string => typeof word === 'string' && word !== ''))];
}
