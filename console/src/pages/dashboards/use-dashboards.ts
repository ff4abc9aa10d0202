import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { Dashboard } from '../../api/own.js';
import { useApi } from '../../session/session.js';
import { tell } from '../../widgets/tell.js';

const KEY = ['dashboards'];

/** The dashboards of the user. */
export function useDashboards() {
  const api = useApi();
  return useQuery({ queryKey: KEY, queryFn: api.dashboards });
}

/** Saves and deletes dashboards; what fails is said. */
export function useDashboardChanges(): {
  readonly save: (dashboard: Dashboard) => Promise<unknown>;
  readonly remove: (id: string) => Promise<unknown>;
} {
  const api = useApi();
  const queries = useQueryClient();
  const outcome = {
    onSuccess: () => queries.invalidateQueries({ queryKey: KEY }),
    onError: (error: Error) => tell(error.message),
  };
  const save = useMutation({ mutationFn: api.saveDashboard, ...outcome });
  const remove = useMutation({ mutationFn: api.deleteDashboard, ...outcome });
  return { save: save.mutateAsync, remove: remove.mutateAsync };
}
