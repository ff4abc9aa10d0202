import type { Code, Constraint } from './constraint.js';

/** What a template asks of a name that must be a DV_CODED_TEXT. */
export interface CodedName {
  /** Null when any terminology will do, or when the codes are those of an external value set. */
  readonly terminologyId: string | null;
  /** Empty = any code. */
  readonly codes: readonly string[];
}

/** What the `name` of an object must be when it must be a DV_CODED_TEXT, null when a DV_TEXT will do as well. */
export function codedNameOf(constraint: Constraint | null): CodedName | null {
  const [name, ...others] = childrenAt(constraint, 'name');
  if (name?.rmType !== 'DV_CODED_TEXT' || others.length > 0) return null;
  const [phrase] = childrenAt(name, 'defining_code');
  if (phrase?.kind !== 'code-phrase') return { terminologyId: null, codes: [] };
  return {
    terminologyId: phrase.referenceSetUri === null ? phrase.terminologyId : null,
    codes: phrase.codes,
  };
}

function childrenAt(constraint: Constraint | null, attribute: string): readonly Constraint[] {
  if (constraint?.kind !== 'object') return [];
  return constraint.attributes.find(({ name }) => name === attribute)?.children ?? [];
}

/** The code that the name of a node has in data: the only one that the template lets it have, null when it is open. */
export function nameCodeOf(node: {
  readonly nameCode: Code | null;
  readonly constraint: Constraint | null;
}): Code | null {
  if (node.nameCode !== null) return node.nameCode;
  const coded = codedNameOf(node.constraint);
  const [code, ...others] = coded?.codes ?? [];
  if (coded === null || code === undefined || others.length > 0) return null;
  return { terminologyId: coded.terminologyId ?? 'local', code };
}
