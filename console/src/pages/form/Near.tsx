import type { WebTemplateNode } from '@everchart/client';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { fieldsBelow } from '../../form/form-tree.js';
import { useForm } from './form-state.js';

/** What is not made yet stands as high as its fields will about be. Pixels for each. */
const FIELD_HEIGHT = 62;
/** How far above and below the screen fields are made: Tab and Enter find the next one there. */
const MARGIN = '1200px';

/**
 * A part of a form that is made when it comes near the screen, and stays; in a form of few fields at once. A finding about
 * it, which is to be gone to, makes it too, and so does paper.
 */
export function Near({
  path,
  node,
  children,
}: {
  readonly path: string;
  readonly node: WebTemplateNode;
  readonly children: ReactNode;
}): ReactNode {
  const { isLarge, findings } = useForm();
  const place = useRef<HTMLDivElement>(null);
  const [wasNear, setWasNear] = useState(!isLarge);
  const isFound = !wasNear && [...findings.keys()].some((found) => found.startsWith(path));
  const isMade = wasNear || isFound || !isLarge;
  useEffect(() => {
    const element = place.current;
    if (isMade || element === null) return undefined;
    return whenNear(element, () => setWasNear(true));
  }, [isMade]);
  if (isMade) return children;
  return <div ref={place} data-place={path} style={{ height: fieldsBelow(node) * FIELD_HEIGHT }} />;
}

const WAITING = new WeakMap<Element, () => void>();
let observer: IntersectionObserver | undefined;

/** One observer for all: thousands wait. */
function whenNear(element: Element, tell: () => void): () => void {
  observer ??= new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries) if (isIntersecting) WAITING.get(target)?.();
    },
    { rootMargin: `${MARGIN} 0px` },
  );
  WAITING.set(element, tell);
  observer.observe(element);
  return () => {
    WAITING.delete(element);
    observer?.unobserve(element);
  };
}
