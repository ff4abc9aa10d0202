import type { ReactNode } from 'react';
import { useMessages } from '../messages/messages.js';
import type { RecordedState } from '../pages/patient/patient-data.js';

/** A mark on what is not simply there: a draft, or what was deleted. */
export function State({ of }: { readonly of: RecordedState }): ReactNode {
  const { t } = useMessages();
  return of === 'complete' ? null : <b className="flag">{t(`state.${of}`)}</b>;
}
