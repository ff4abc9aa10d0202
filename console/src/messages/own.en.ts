/** What is said of a user's own things, in English. */
export const own = {
  'own.favourites': 'Favourites',
  'own.recent': 'Opened lately',
  'own.favour': 'Make it a favourite',
  'own.unfavour': 'No favourite any more',
  'own.favoured': 'It is a favourite now',
  'own.unfavoured': 'It is no favourite any more',
} as const;
