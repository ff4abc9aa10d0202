import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { Dashboard } from '../../api/own.js';
import { useApi } from '../../session/session.js';
import { tell } from '../../widgets/tell.js';
import { changeDashboard, type DashboardEdit } from './change-dashboard.js';

const KEY = ['dashboards'];

/** The dashboards of the user. */
export function useDashboards() {
  const api = useApi();
  return useQuery({ queryKey: KEY, queryFn: api.dashboards });
}

/** Saves and deletes dashboards; what fails is said. */
export function useDashboardChanges(): {
  /** A new one, or one that was deleted. */
  readonly save: (dashboard: Dashboard) => Promise<unknown>;
  /** What is there is changed, also when another tab changed it meanwhile. */
  readonly change: (dashboard: Dashboard, edit: DashboardEdit) => Promise<unknown>;
  readonly remove: (id: string) => Promise<unknown>;
} {
  const api = useApi();
  const queries = useQueryClient();
  const outcome = {
    onError: (error: Error) => tell(error.message),
    // Also of what failed: another tab may have deleted it.
    onSettled: () => queries.invalidateQueries({ queryKey: KEY }),
  };
  // What offers to take a change back was made before it.
  const latest = (dashboard: Dashboard): Dashboard =>
    queries
      .getQueryData<readonly Dashboard[]>(KEY)
      ?.find((each) => each.dashboard_id === dashboard.dashboard_id) ?? dashboard;
  const save = useMutation({ mutationFn: api.saveDashboard, ...outcome });
  const change = useMutation({
    mutationFn: ({ dashboard, edit }: { readonly dashboard: Dashboard; readonly edit: DashboardEdit }) =>
      changeDashboard(api, latest(dashboard), edit),
    ...outcome,
  });
  const remove = useMutation({ mutationFn: api.deleteDashboard, ...outcome });
  return {
    save: save.mutateAsync,
    change: (dashboard, edit) => change.mutateAsync({ dashboard, edit }),
    remove: remove.mutateAsync,
  };
}
