import { useEffect } from 'react';
import type { AnyRouter } from '@tanstack/react-router';

/** Where a page of the history was left. */
interface Place {
  readonly path: string;
  readonly y: number;
}

/** How long what a page shows may take to come back. Milliseconds. */
const COMING_MS = 3_000;

/** What shows that the reader himself wants to be elsewhere. */
const SIGNS = ['wheel', 'touchstart', 'keydown', 'pointerdown'] as const;

/** A new page begins at its top, and whoever goes back is where he was. In memory: no storage learns who was looked at. */
export function useKeptScroll(router: AnyRouter): void {
  useEffect(() => {
    const places = new Map<number, Place>();
    let stop = (): void => undefined;
    const leaving = router.subscribe('onBeforeNavigate', ({ fromLocation }) => {
      if (fromLocation === undefined) return;
      places.set(fromLocation.state.__TSR_index, { path: fromLocation.pathname, y: scrollY });
    });
    const arrived = router.subscribe('onRendered', ({ fromLocation, toLocation, pathChanged }) => {
      if (!pathChanged) return;
      stop();
      const index = toLocation.state.__TSR_index;
      const place = index < (fromLocation?.state.__TSR_index ?? 0) ? places.get(index) : undefined;
      if (place?.path === toLocation.pathname) stop = scrollTo(place.y);
      else window.scrollTo(0, 0);
    });
    return () => {
      stop();
      leaving();
      arrived();
    };
  }, [router]);
}

/** Goes there as soon as the page is long enough, unless the reader goes elsewhere first. Gives what ends it. */
function scrollTo(y: number): () => void {
  const until = Date.now() + COMING_MS;
  let frame = requestAnimationFrame(go);
  function go(): void {
    window.scrollTo(0, y);
    if (Math.abs(scrollY - y) > 1 && Date.now() < until) frame = requestAnimationFrame(go);
    else end();
  }
  function end(): void {
    cancelAnimationFrame(frame);
    for (const sign of SIGNS) removeEventListener(sign, end);
  }
  for (const sign of SIGNS) addEventListener(sign, end, { passive: true });
  return end;
}
