import type { StoredPolicy } from '../../../api/access.js';

/** What is to become of policies, by id: another text, or null for none. */
export type PolicyDraft = Readonly<Record<string, string | null>>;

/** How a policy of a draft differs from what is stored. */
export interface DraftLine {
  readonly id: string;
  readonly change: 'new' | 'changed' | 'removed';
}

/** The draft with another text of a policy; one that says what is stored is no change. `text` undefined: as it is stored. */
export function withText(
  draft: PolicyDraft,
  stored: readonly StoredPolicy[],
  [id, text]: readonly [string, string | null | undefined],
): PolicyDraft {
  const others = Object.fromEntries(Object.entries(draft).filter(([each]) => each !== id));
  const known = stored.find((policy) => policy.id === id);
  const isSame = text === undefined || text === (known?.policy ?? null);
  return isSame ? others : { ...others, [id]: text };
}

/** The text of a policy in a draft; null: it has none. */
export function textIn(draft: PolicyDraft, stored: readonly StoredPolicy[], id: string): string | null {
  const drafted = draft[id];
  return drafted === undefined ? (stored.find((policy) => policy.id === id)?.policy ?? null) : drafted;
}

/** What a draft changes, by id. */
export function linesOf(draft: PolicyDraft, stored: readonly StoredPolicy[]): DraftLine[] {
  const known = new Set(stored.map(({ id }) => id));
  return Object.entries(draft)
    .map(([id, text]): DraftLine => ({
      id,
      change: text === null ? 'removed' : known.has(id) ? 'changed' : 'new',
    }))
    .sort((left, right) => left.id.localeCompare(right.id));
}

/** All policies that would hold. */
export function policiesOf(
  draft: PolicyDraft,
  stored: readonly StoredPolicy[],
): { readonly id: string; readonly policy: string }[] {
  const ids = [...new Set([...stored.map(({ id }) => id), ...Object.keys(draft)])].sort();
  return ids.flatMap((id) => {
    const policy = textIn(draft, stored, id);
    return policy === null ? [] : [{ id, policy }];
  });
}
