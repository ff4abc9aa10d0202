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
  const tokens = header.split(',').map((token) => token.trim().toLowerCase().replaceAll(/["\s]/g, ''));
  const asked = RETURNS.find((word) => word === firstReturn(tokens));
  const resolveRefs = tokens.includes('resolve_refs');
  const applied = [
    ...(asked === undefined ? [] : [`return=${asked}`]),
    ...(resolveRefs ? ['resolve_refs'] : []),
  ];
  return { returns: asked ?? 'minimal', resolveRefs, applied: applied.join(', ') };
}

function firstReturn(tokens: readonly string[]): string | undefined {
  return tokens.find((token) => token.startsWith('return='))?.slice('return='.length);
}
