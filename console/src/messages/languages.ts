import { en, type Catalogue } from './en.js';

interface LanguageFile {
  /** What its speakers call it. */
  readonly name: string;
  readonly load: () => Promise<Catalogue>;
}

/** Languages of the console, each a file that is loaded when it is wanted: who translates adds one beside `de.ts`, and its line here. */
export const LANGUAGES = {
  en: { name: 'English', load: () => Promise.resolve(en) },
  de: { name: 'Deutsch', load: async () => (await import('./de.js')).de },
} satisfies Readonly<Record<string, LanguageFile>>;

/** A language of the console. */
export type Language = keyof typeof LANGUAGES;

/** That of the browser, where the console speaks it. */
export function languageOf(tags: readonly string[]): Language {
  const known = tags.map((tag) => tag.split('-')[0] ?? '').find((tag) => Object.hasOwn(LANGUAGES, tag));
  return (known ?? 'en') as Language;
}
