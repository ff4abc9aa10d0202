import { CdrError, type Cdr } from '@everchart/client';

/** What is kept of a favourite. */
export interface FavouriteEhr {
  readonly ehr_id: string;
  readonly subject?: { readonly id: string };
}

/** What is the user's own. */
export interface OwnApi {
  /** Newest first. */
  favourites: () => Promise<readonly FavouriteEhr[]>;
  favour: (ehrId: string, isFavourite: boolean) => Promise<void>;
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
  };
}
