import { versionedObjectUidOf, type HistoryEntry } from '@everchart/client';
import { useQuery } from '@tanstack/react-query';
import { useApi } from '../../session/session.js';

/** The versions of the document that a version belongs to, newest first; empty until they are known. */
export function useRevisions(ehrId: string, uid: string): readonly HistoryEntry[] {
  const api = useApi();
  const container = versionedObjectUidOf(uid);
  const { data = [] } = useQuery({
    queryKey: ['revisions', ehrId, container],
    queryFn: () => api.revisions(ehrId, container),
  });
  return data;
}
