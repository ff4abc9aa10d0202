import { use, useMemo } from 'react';
import type { differences } from './differences.en.js';
import type { MessageKey } from './en.js';
import { LANGUAGES, type Language } from './languages.js';
import { useMessages } from './messages.js';
import { translator, type Translate } from './translate.js';

type DifferenceKey = keyof typeof differences;

/** What only pages of templates say, in one language. */
export type Differences = Readonly<Record<DifferenceKey, string>>;

/** Says what pages of templates say, and all else. */
type TranslateAll = Translate<MessageKey | DifferenceKey>;

interface TemplateMessages {
  readonly t: TranslateAll;
  readonly language: Language;
  readonly words: Differences;
}

const loaded = new Map<Language, Promise<Differences>>();

/** As `useMessages`, with what only pages of templates say: waits until it is there. */
export function useTemplateMessages(): TemplateMessages {
  const { t, language } = useMessages();
  const words = use(wordsOf(language));
  const all = useMemo(() => {
    const own = translator(words, language);
    const translate: TranslateAll = (key, values) =>
      isKnown(key, words) ? own(key, values) : t(key, values);
    return translate;
  }, [words, language, t]);
  return { t: all, language, words };
}

function wordsOf(language: Language): Promise<Differences> {
  const before = loaded.get(language);
  if (before !== undefined) return before;
  const words = LANGUAGES[language].differences();
  loaded.set(language, words);
  return words;
}

function isKnown<Key extends string>(key: Key, words: Differences): key is Key & DifferenceKey {
  return Object.hasOwn(words, key);
}
