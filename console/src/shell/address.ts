import { useEffect, useRef } from 'react';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch, type NavigateOptions } from '@tanstack/react-router';

/** What stands in the address of a view behind its path. */
export type Address = Readonly<Record<string, string | undefined>>;

/** A view of the console: its path with `$names`, what stands for them, what stands behind the path. */
export interface View {
  readonly to: string;
  readonly params?: Readonly<Record<string, string>>;
  readonly search?: Address;
}

/** The view of a patient. */
export function patientView(ehrId: string, search: Address = {}): View {
  return { to: '/patients/$ehrId', params: { ehrId }, search };
}

/** The view of a COMPOSITION, by a version of it. */
export function compositionView(ehrId: string, uid: string, search: Address = {}): View {
  return { to: '/patients/$ehrId/compositions/$uid', params: { ehrId, uid }, search };
}

/** The view of a form: a new document of a template, or the version of one that is changed. */
export function formView(
  ehrId: string,
  search: { readonly template?: string; readonly uid?: string; readonly draft?: string },
): View {
  return { to: '/patients/$ehrId/form', params: { ehrId }, search };
}

/** The view of a template. */
export function templateView(templateId: string, search: Address = {}): View {
  return { to: '/templates/$templateId', params: { templateId }, search };
}

/** The view of a dashboard; without id the first. */
export function dashboardView(id?: string): View {
  return { to: '/dashboards', search: id === undefined ? {} : { id } };
}

/** Goes to another view. */
export function useGo(): (view: View) => void {
  const arrive = useArrive();
  return (view) => void arrive(view);
}

/** Goes to another view; done when that is shown. */
function useArrive(): (view: View) => Promise<void> {
  const navigate = useNavigate();
  return ({ to, params = {}, search = {} }) => navigate({ to, params, search });
}

/**
 * Goes on to another view with what was answered, as long as this one is shown: an answer that comes late takes nobody
 * away from where he went meanwhile.
 */
export function useGoOn(): (view: View) => Promise<void> {
  const arrive = useArrive();
  const isShown = useRef(false);
  useEffect(() => {
    isShown.current = true;
    return () => {
      isShown.current = false;
    };
  }, []);
  return async (view) => {
    if (isShown.current) await arrive(view);
  };
}

/**
 * After a write: shows a view of what it made, if there is one, as {@link useGoOn} does, and asks anew for all that is shown then. What
 * was shown before is not asked for again: it may be gone.
 */
export function useWritten(): (view?: View) => Promise<void> {
  const queries = useQueryClient();
  const goOn = useGoOn();
  return async (view) => {
    await queries.invalidateQueries({ refetchType: 'none' });
    if (view !== undefined) await goOn(view);
    await queries.refetchQueries({ type: 'active', stale: true }, { cancelRefetch: false });
  };
}

/** The address of the view that is shown, and what changes parts of it without a new entry in the history. */
export function useAddress(): {
  readonly address: Address;
  readonly params: Readonly<Record<string, string>>;
  readonly change: (parts: Address) => void;
} {
  const address: Address = useSearch({ strict: false });
  const params: Readonly<Record<string, string>> = useParams({ strict: false });
  const navigate = useNavigate();
  return {
    address,
    params,
    change: (parts) => {
      const next = { to: '.', search: { ...address, ...parts }, replace: true };
      void navigate(next as unknown as NavigateOptions);
    },
  };
}
