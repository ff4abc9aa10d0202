/** What of a resource an answer has: nothing, its id, or all. */
export type Returns = 'minimal' | 'identifier' | 'representation';

/** What a client wants to get back from a write. */
export interface Preference {
  readonly returns: Returns;
  /** CONTRIBUTION: whole versions instead of references. */
  readonly resolveRefs: boolean;
  /** `validation=lenient`: docs/spec/formats.md#lenient-validation. */
  readonly isLenient: boolean;
  /** `unshown=keep`: docs/spec/formats.md#flat-over. */
  readonly keepsUnshown: boolean;
  /** What is honoured wherever it is asked, for `Preference-Applied`; empty when nothing was asked that is known. */
  readonly applied: string;
}

/** The preference that content of other servers is accepted although it breaks some rules. */
export const LENIENT = 'validation=lenient';
/** What a `Warning` header says where that is not honoured. RFC 7240: such a preference is ignored. */
export const LENIENT_IGNORED = 'Prefer: validation=lenient was ignored: VALIDATION of this server is strict';
const RETURNS = ['minimal', 'identifier', 'representation'] as const;

/**
 * Reads `Prefer`: unknown tokens are ignored, of several `return=` the first known counts. RFC 7240. `otherwise`: what is returned
 * without one.
 */
export function parsePrefer(header: string, otherwise: Returns = 'minimal'): Preference {
  const tokens = header.split(',').map(preferenceOf);
  const asked = tokens.map(returnOf).find((word) => word !== undefined);
  const resolveRefs = tokens.includes('resolve_refs');
  const applied = [
    ...(asked === undefined ? [] : [`return=${asked}`]),
    ...(resolveRefs ? ['resolve_refs'] : []),
  ];
  const isLenient = tokens.find((token) => token.startsWith('validation=')) === LENIENT;
  const keepsUnshown = tokens.includes('unshown=keep');
  return { returns: asked ?? otherwise, resolveRefs, isLenient, keepsUnshown, applied: applied.join(', ') };
}

/** One preference without its parameters. */
function preferenceOf(token: string): string {
  const [preference = ''] = token.split(';');
  return preference.toLowerCase().replaceAll(/["\s]/g, '');
}

function returnOf(preference: string): Returns | undefined {
  return RETURNS.find((word) => preference === `return=${word}`);
}
