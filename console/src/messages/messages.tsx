import { createContext, useContext, useMemo, type ReactNode } from 'react';
import { useLocalStorage } from '@mantine/hooks';
import { de } from './de.js';
import { en, type Catalogue, type MessageKey } from './en.js';

/** Languages of the console. */
type Language = 'en' | 'de';

const CATALOGUES: Readonly<Record<Language, Catalogue>> = { en, de };

/** The message of a key with its `{values}` put in. */
type Translate = (key: MessageKey, values?: Readonly<Record<string, string | number>>) => string;

interface Messages {
  readonly language: Language;
  readonly setLanguage: (language: Language) => void;
  readonly t: Translate;
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
    () => ({ language, setLanguage, t: translator(CATALOGUES[language]) }),
    [language, setLanguage],
  );
  document.documentElement.lang = language;
  return <MessagesContext value={messages}>{children}</MessagesContext>;
}

function translator(catalogue: Catalogue): Translate {
  return (key, values = {}) =>
    catalogue[key].replaceAll(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}

/** The language, and what says things in it. */
export function useMessages(): Messages {
  const messages = useContext(MessagesContext);
  if (messages === null) throw new TypeError('no MessagesProvider above');
  return messages;
}
