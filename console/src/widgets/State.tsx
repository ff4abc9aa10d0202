import type { ReactNode } from 'react';
import { useMessages } from '../messages/messages.js';

/** A mark on what is not simply there: a draft, or what was deleted. */
export function State({ of }: { readonly of: 'complete' | 'draft' | 'deleted' }): ReactNode {
  const { t } = useMessages();
  return of === 'complete' ? null : <b className="flag">{t(`state.${of}`)}</b>;
}
