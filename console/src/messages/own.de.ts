import type { own as english } from './own.en.js';

/** What is said of a user's own things, in German. */
export const own: Readonly<Record<keyof typeof english, string>> = {
  'own.favourites': 'Favoriten',
  'own.recent': 'Zuletzt geöffnet',
  'own.favour': 'Zum Favoriten machen',
  'own.unfavour': 'Kein Favorit mehr',
  'own.favoured': 'Ist jetzt ein Favorit',
  'own.unfavoured': 'Ist kein Favorit mehr',
};
