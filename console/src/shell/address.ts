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
  const navigate = useNavigate();
  return ({ to, params = {}, search = {} }) => {
    void navigate({ to, params, search });
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
