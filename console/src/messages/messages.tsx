import { createContext, useContext, useMemo, type ReactNode } from 'react';
import { useLocalStorage } from '@mantine/hooks';
import { de } from './de.js';
import { en, type Catalogue } from './en.js';
import { translator, type Translate } from './translate.js';

/** Languages of the console. */
type Language = 'en' | 'de';

const CATALOGUES: Readonly<Record<Language, Catalogue>> = { en, de };

interface Messages {
  readonly language: Language;
  readonly setLanguage: (language: Language) => void;
  readonly t: Translate;
  /** Where the reader's clock is: `Europe/Berlin`. */
  readonly zone: string;
}

const MessagesContext = createContext<Messages | null>(null);

/** Gives the language to all below; the choice is kept in the browser, and is the browser's own at first. */
export function MessagesProvider({ children }: { readonly children: ReactNode }): ReactNode {
  const [language, setLanguage] = useLocalStorage<Language>({
    key: 'everchart-language',
    defaultValue: navigator.language.startsWith('de') ? 'de' : 'en',
    getInitialValueInEffect: false,
  });
  const messages = useMemo(
    () => ({ language, setLanguage, t: translator(CATALOGUES[language], language), zone: zoneOfReader() }),
    [language, setLanguage],
  );
  document.documentElement.lang = language;
  return <MessagesContext value={messages}>{children}</MessagesContext>;
}

function zoneOfReader(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** The language, and what says things in it. */
export function useMessages(): Messages {
  const messages = useContext(MessagesContext);
  if (messages === null) throw new TypeError('no MessagesProvider above');
  return messages;
}
