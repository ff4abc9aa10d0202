import type { Differences } from './template-messages.js';
import { en, type Catalogue } from './en.js';

interface LanguageFile {
  /** What its speakers call it. */
  readonly name: string;
  readonly load: () => Promise<Catalogue>;
  /** What only pages of templates say, loaded with them. */
  readonly differences: () => Promise<Differences>;
}

/** Languages of the console, each in files that are loaded when they are wanted: who translates adds them beside `*.de.ts`, and their lines here. */
export const LANGUAGES = {
  en: {
    name: 'English',
    load: () => Promise.resolve(en),
    differences: async () => (await import('./differences.en.js')).differences,
  },
  de: {
    name: 'Deutsch',
    load: async () => (await import('./de.js')).de,
    differences: async () => (await import('./differences.de.js')).differences,
  },
} satisfies Readonly<Record<string, LanguageFile>>;

/** A language of the console. */
export type Language = keyof typeof LANGUAGES;

/** That of the browser, where the console speaks it. */
export function languageOf(tags: readonly string[]): Language {
  const known = tags.map((tag) => tag.split('-')[0] ?? '').find((tag) => Object.hasOwn(LANGUAGES, tag));
  return (known ?? 'en') as Language;
}
