import { useEffect, useState } from 'react';

/** What is looked for, and whether Enter was pressed before it could be found. */
export interface Wanted {
  readonly text: string;
  readonly isChosen: boolean;
}

const NOTHING: Wanted = { text: '', isChosen: false };

/** Keys that write nothing and mean something to the palette. */
const OTHERS = ['Backspace', 'Enter', 'Escape'];

/** The field of the palette, when it can be typed in. */
export const FIELD = '.mantine-Spotlight-search';

/**
 * What is typed into the palette. The first letters come before its file: from the moment it is opened until its field has the
 * focus, keys are taken here, as long as the focus is where it was: whoever went elsewhere writes there.
 */
export function useTypedAhead(
  isOpen: boolean,
  close: () => void,
): readonly [Wanted, (wanted: Wanted) => void] {
  const [wanted, setWanted] = useState(NOTHING);
  useEffect(() => {
    if (!isOpen) return undefined;
    const before = document.activeElement;
    const take = (event: KeyboardEvent): void => {
      const focused = document.activeElement;
      // What had the focus may be gone, and then the page has it.
      if ((focused !== before && focused !== document.body) || event.isComposing) return;
      const { key } = event;
      if (!isWritten(event) && !OTHERS.includes(key)) return;
      event.preventDefault();
      event.stopPropagation();
      if (key === 'Escape') close();
      else setWanted((was) => withKey(was, key));
    };
    addEventListener('keydown', take, { capture: true });
    return () => {
      removeEventListener('keydown', take, { capture: true });
      setWanted(NOTHING);
    };
  }, [isOpen, close]);
  return [wanted, setWanted];
}

function withKey({ text }: Wanted, key: string): Wanted {
  if (key === 'Enter') return { text, isChosen: true };
  return { text: key === 'Backspace' ? text.slice(0, -1) : text + key, isChosen: false };
}

/** Whether a key writes a character. AltGr, which writes some, counts as Ctrl and Alt. */
function isWritten(event: KeyboardEvent): boolean {
  const isCommand = (event.ctrlKey || event.altKey || event.metaKey) && !event.getModifierState('AltGraph');
  return Array.from(event.key).length === 1 && !isCommand;
}
