import { createContext, useContext, useEffect, useMemo, useState, type ReactNode } from 'react';
import { useLocalStorage } from '@mantine/hooks';
import { en, type Catalogue } from './en.js';
import { LANGUAGES, languageOf, type Language } from './languages.js';
import { translator, type Translate } from './translate.js';

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
  const [wanted, setLanguage] = useLocalStorage<Language>({
    key: 'everchart-language',
    defaultValue: languageOf(navigator.languages),
    getInitialValueInEffect: false,
  });
  const loaded = useCatalogue(Object.hasOwn(LANGUAGES, wanted) ? wanted : 'en');
  const messages = useMemo(
    () =>
      loaded && {
        language: loaded.language,
        setLanguage,
        t: translator(loaded.catalogue, loaded.language),
        zone: zoneOfReader(),
      },
    [loaded, setLanguage],
  );
  if (messages === null) return null;
  document.documentElement.lang = messages.language;
  return <MessagesContext value={messages}>{children}</MessagesContext>;
}

interface Loaded {
  readonly language: Language;
  readonly catalogue: Catalogue;
}

/** The messages of a language; those of before until they are there, and null while there are none. */
function useCatalogue(language: Language): Loaded | null {
  const [loaded, setLoaded] = useState<Loaded | null>(language === 'en' ? { language, catalogue: en } : null);
  useEffect(() => {
    let isWanted = true;
    void LANGUAGES[language].load().then((catalogue) => {
      if (isWanted) setLoaded((before) => (before?.language === language ? before : { language, catalogue }));
    });
    return () => {
      isWanted = false;
    };
  }, [language]);
  return loaded;
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
