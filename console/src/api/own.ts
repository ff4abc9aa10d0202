import { CdrError, type Cdr } from '@everchart/client';

/** What is kept of a favourite. */
export interface FavouriteEhr {
  readonly ehr_id: string;
  readonly subject?: { readonly id: string };
}

/** What is the user's own, and what he puts on paper. */
export interface OwnApi {
  /** Newest first. */
  favourites: () => Promise<readonly FavouriteEhr[]>;
  favour: (ehrId: string, isFavourite: boolean) => Promise<void>;
  /** By their names. */
  dashboards: () => Promise<readonly Dashboard[]>;
  saveDashboard: (dashboard: Dashboard) => Promise<void>;
  deleteDashboard: (id: string) => Promise<void>;
  /** Concepts of a value set; null: the server has nobody to ask. */
  concepts: (valueSet: string, filter: string) => Promise<readonly Concept[] | null>;
  /** Tells the audit of a print, also when the page is left meanwhile. */
  notePrint: (print: Print) => Promise<void>;
}

/** A concept of a terminology. */
export interface Concept {
  readonly code: string;
  readonly display: string;
  readonly system: string;
}

/** A query on a dashboard. */
export interface Panel {
  readonly title: string;
  readonly q: string;
  readonly show: 'table' | 'chart';
}

/** Queries that the user wants to see together. */
export interface Dashboard {
  /** UUID. */
  readonly dashboard_id: string;
  readonly name: string;
  readonly panels: readonly Panel[];
  /** What is typed for the parameters of all of them. */
  readonly parameters: Readonly<Record<string, string>>;
  /** What a change follows; without it, it is a new one. */
  readonly saved_at?: string | undefined;
}

/** What goes on paper. */
export interface Print {
  readonly of: 'record' | 'document' | 'result' | 'access';
  readonly ehr_id?: string;
  readonly uid?: string;
  readonly q?: string;
}

/** The part of the API that keeps what is the user's own. */
export function ownApi(cdr: Cdr): OwnApi {
  return {
    favourites: async () => (await cdr.request<readonly FavouriteEhr[]>('GET', '/rest/favourite')).body,
    favour: async (ehrId, isFavourite) => {
      try {
        await cdr.request(isFavourite ? 'PUT' : 'DELETE', `/rest/favourite/${encodeURIComponent(ehrId)}`);
      } catch (error) {
        // Taken away elsewhere, it is none either.
        if (isFavourite || !(error instanceof CdrError) || error.status !== 404) throw error;
      }
    },
    dashboards: async () => (await cdr.request<readonly Dashboard[]>('GET', '/rest/dashboard')).body,
    saveDashboard: async ({ dashboard_id: id, name, panels, parameters, saved_at: savedAt }) => {
      await cdr.request('PUT', `/rest/dashboard/${encodeURIComponent(id)}`, {
        body: { name, panels, parameters },
        headers: savedAt === undefined ? {} : { 'If-Match': `"${savedAt}"` },
      });
    },
    deleteDashboard: async (id) => {
      await cdr.request('DELETE', `/rest/dashboard/${encodeURIComponent(id)}`);
    },
    concepts: async (valueSet, filter) => {
      const body = { value_set: valueSet, filter };
      try {
        return (await cdr.request<{ concepts: readonly Concept[] }>('POST', '/rest/terminology', { body }))
          .body.concepts;
      } catch (error) {
        if (error instanceof CdrError && error.status === 404) return null;
        throw error;
      }
    },
    notePrint: async (body) => {
      await cdr.request('POST', '/rest/print', { body });
    },
  };
}
