/** What a client wants to get back from a write. */
export interface Preference {
  readonly returns: 'minimal' | 'identifier' | 'representation';
  /** CONTRIBUTION: whole versions instead of references. */
  readonly resolveRefs: boolean;
  /** The honoured part, for `Preference-Applied`; empty when nothing was asked that is known. */
  readonly applied: string;
}

const RETURNS = ['minimal', 'identifier', 'representation'] as const;

/** Reads `Prefer`: unknown tokens are ignored, of several `return=` the first known counts. RFC 7240. */
export function parsePrefer(header: string): Preference {
  const tokens = header.split(',').map(preferenceOf);
  const asked = tokens.map(returnOf).find((word) => word !== undefined);
  const resolveRefs = tokens.includes('resolve_refs');
  const applied = [
    ...(asked === undefined ? [] : [`return=${asked}`]),
    ...(resolveRefs ? ['resolve_refs'] : []),
  ];
  return { returns: asked ?? 'minimal', resolveRefs, applied: applied.join(', ') };
}

/** One preference without its parameters. */
function preferenceOf(token: string): string {
  const [preference = ''] = token.split(';');
  return preference.toLowerCase().replaceAll(/["\s]/g, '');
}

function returnOf(preference: string): Preference['returns'] | undefined {
  return RETURNS.find((word) => preference === `return=${word}`);
}
