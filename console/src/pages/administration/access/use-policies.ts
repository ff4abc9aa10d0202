import { useQuery } from '@tanstack/react-query';
import type { StoredPolicy } from '../../../api/access.js';
import { useApi } from '../../../session/session.js';
import { useKept } from '../../../widgets/use-kept.js';
import { withText, type PolicyDraft } from './draft.js';

/** The stored policies; undefined until they are known. */
export function usePolicies() {
  const api = useApi();
  return useQuery({ queryKey: ['policies'], queryFn: api.policies });
}

/** What is written and not stored yet: in memory, as long as the tab is open. */
export function useDraft(stored: readonly StoredPolicy[]): {
  readonly draft: PolicyDraft;
  /** undefined: as it is stored. */
  readonly write: (id: string, text: string | null | undefined) => void;
} {
  const [draft, keep] = useKept<PolicyDraft>(['policy-draft'], {});
  return { draft, write: (id, text) => keep(withText(draft, stored, [id, text])) };
}
