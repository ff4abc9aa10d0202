import { useEffect, useLayoutEffect } from 'react';
import { expiry } from './expiry.js';
import { useSession } from './session.js';
import { isAnythingLost } from './unsaved.js';

/** What shows that somebody is there. */
const SIGNS = ['keydown', 'pointerdown', 'pointermove', 'wheel', 'touchstart'] as const;
const MINUTE_MS = 60_000;

/** Locks the page of whoever has signed in and touches nothing for as long as the server says. */
export function useIdleLock(): void {
  const { credentials, settings } = useSession();
  const minutes = credentials.kind === 'none' ? null : settings.idle_minutes;
  useEffect(() => {
    if (minutes === null) return undefined;
    let last = Date.now();
    let timer = setTimeout(look, minutes * MINUTE_MS);
    const touched = (): void => {
      // A machine that slept has run no timer: who wakes it has been away all the same.
      if (!isAway()) last = Date.now();
    };
    function isAway(): boolean {
      return Date.now() - last >= (minutes ?? 0) * MINUTE_MS;
    }
    function look(): void {
      clearTimeout(timer);
      if (isAway() && expiry.why === null) {
        // What is typed outlives also a machine that is switched off.
        void isAnythingLost();
        expiry.lock();
      }
      timer = setTimeout(look, Math.max(1000, last + (minutes ?? 0) * MINUTE_MS - Date.now()));
    }
    for (const sign of SIGNS) addEventListener(sign, touched, { capture: true, passive: true });
    document.addEventListener('visibilitychange', look);
    const unlock = expiry.subscribe(() => {
      if (expiry.why === null) last = Date.now();
    });
    return () => {
      clearTimeout(timer);
      unlock();
      for (const sign of SIGNS) removeEventListener(sign, touched, { capture: true });
      document.removeEventListener('visibilitychange', look);
    };
  }, [minutes]);
}

/** Takes all but the dialog out of sight, of readers of the screen, of searches and of paper; and the name out of the title. */
export function useHiddenPage(isHidden: boolean): void {
  useLayoutEffect(() => {
    if (!isHidden) return undefined;
    const { title } = document;
    document.title = 'everchart';
    document.documentElement.dataset['locked'] = '';
    return () => {
      document.title = title;
      delete document.documentElement.dataset['locked'];
    };
  }, [isHidden]);
}
