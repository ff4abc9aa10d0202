import {
  createHashHistory,
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
} from '@tanstack/react-router';
import { Shell } from './Shell.js';

/** Optional text of the address; anything else is dropped. */
type Search = Readonly<Record<string, string | undefined>>;
const texts =
  (...names: string[]) =>
  (search: Record<string, unknown>): Search =>
    Object.fromEntries(
      names.flatMap((name) => {
        const value = search[name];
        return typeof value === 'string' || typeof value === 'number' ? [[name, String(value)]] : [];
      }),
    );

/** A view, loaded when it is wanted, together with what pages say. */
function onPage<T extends Record<string, unknown>, K extends keyof T>(load: () => Promise<T>, name: K) {
  return lazyRouteComponent(async () => {
    const [file] = await Promise.all([load(), import('../messages/english.js')]);
    return file;
  }, name);
}

const root = createRootRoute({
  component: Shell,
  notFoundComponent: lazyRouteComponent(() => import('./NotFound.js'), 'NotFound'),
});
const page = { getParentRoute: () => root };

const routeTree = root.addChildren([
  createRoute({
    ...page,
    path: '/',
    component: onPage(() => import('../pages/overview/OverviewPage.js'), 'OverviewPage'),
  }),
  createRoute({
    ...page,
    path: '/patients',
    validateSearch: texts('find', 'page', 'where', 'all'),
    component: onPage(() => import('../pages/patients/PatientsPage.js'), 'PatientsPage'),
  }),
  createRoute({
    ...page,
    path: '/patients/$ehrId',
    validateSearch: texts('tab', 'drafts', 'trends'),
    component: onPage(() => import('../pages/patient/PatientPage.js'), 'PatientPage'),
  }),
  createRoute({
    ...page,
    path: '/patients/$ehrId/compositions/$uid',
    validateSearch: texts('tab', 'compare'),
    component: onPage(() => import('../pages/composition/CompositionPage.js'), 'CompositionPage'),
  }),
  createRoute({
    ...page,
    path: '/patients/$ehrId/form',
    validateSearch: texts('template', 'uid', 'draft'),
    component: onPage(() => import('../pages/form/FormPage.js'), 'FormPage'),
  }),
  createRoute({
    ...page,
    path: '/templates',
    component: onPage(() => import('../pages/templates/TemplatesPage.js'), 'TemplatesPage'),
  }),
  createRoute({
    ...page,
    path: '/templates/$templateId',
    validateSearch: texts('node', 'with'),
    component: onPage(() => import('../pages/templates/TemplatePage.js'), 'TemplatePage'),
  }),
  createRoute({
    ...page,
    path: '/query',
    validateSearch: texts('q', 'explain'),
    component: onPage(() => import('../pages/query/QueryPage.js'), 'QueryPage'),
  }),
  createRoute({
    ...page,
    path: '/dashboards',
    validateSearch: texts('id'),
    component: onPage(() => import('../pages/dashboards/DashboardsPage.js'), 'DashboardsPage'),
  }),
  createRoute({
    ...page,
    path: '/administration',
    validateSearch: texts('tab', 'source', 'target', 'view', 'policy', 'record'),
    component: onPage(() => import('../pages/administration/AdministrationPage.js'), 'AdministrationPage'),
  }),
]);

/** All views; their addresses stand behind `#`, so that ids of patients reach no log of requests. */
export const router = createRouter({
  routeTree,
  // Texts as they are: a page is `?page=2`, not `?page=%222%22`.
  parseSearch: (search) => Object.fromEntries(new URLSearchParams(search)),
  stringifySearch: (search) => {
    const given = Object.entries(search).filter(([, value]) => value !== undefined);
    const text = new URLSearchParams(given as [string, string][]).toString();
    return text === '' ? '' : `?${text}`;
  },
  history: createHashHistory(),
  defaultErrorComponent: lazyRouteComponent(() => import('./Broken.js'), 'Broken'),
  defaultPreload: 'intent',
  // What is typed or asked beside one patient or document is never there beside another.
  defaultRemountDeps: ({ params }: { readonly params: unknown }) => params,
  scrollRestoration: false,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
