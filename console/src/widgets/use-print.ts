import { useEffect, useState } from 'react';
import { flushSync } from 'react-dom';
import type { Print } from '../api/own.js';
import { useMessages } from '../messages/messages.js';
import { useApi } from '../session/session.js';
import { tell } from './tell.js';

/** Tells the audit whenever the page is printed; null: somebody else does. Paper cannot be held back: what fails is said. */
export function usePrintNote(print: Print | null): void {
  const api = useApi();
  const { t } = useMessages();
  const text = print === null ? null : JSON.stringify(print);
  useEffect(() => {
    if (text === null) return undefined;
    const note = (): void => {
      api.notePrint(JSON.parse(text) as Print).catch(() => tell(t('print.unrecorded')));
    };
    addEventListener('beforeprint', note);
    return () => removeEventListener('beforeprint', note);
  }, [api, t, text]);
}

/** Whether the page is on its way to paper: what is shown only there is drawn before the browser looks. */
export function useIsPrinting(): boolean {
  const [isPrinting, setPrinting] = useState(false);
  useEffect(() => {
    const begin = (): void => flushSync(() => setPrinting(true));
    const end = (): void => setPrinting(false);
    addEventListener('beforeprint', begin);
    addEventListener('afterprint', end);
    return () => {
      removeEventListener('beforeprint', begin);
      removeEventListener('afterprint', end);
    };
  }, []);
  return isPrinting;
}
