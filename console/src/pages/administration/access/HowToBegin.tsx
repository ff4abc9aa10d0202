import type { ReactNode } from 'react';
import { useMessages } from '../../../messages/messages.js';
import { Section } from '../../../widgets/Page.js';
import { READY } from './built-in-policies.js';
import { ModeNote } from './ModeNote.js';
import { readyTitle } from './ready-titles.js';

const STEPS = ['dry', 'try', 'observe', 'enforce'] as const;
const SETTINGS: Readonly<Record<(typeof STEPS)[number], string>> = {
  dry: 'ACCESS_MODE=dry',
  try: '',
  observe: 'ACCESS_MODE=observe\nAUDIT_READS=true',
  enforce: 'ACCESS_MODE=enforce',
};

/** There are no policies on this server: what they would do for it, and how one begins. */
export function HowToBegin(): ReactNode {
  const { t } = useMessages();
  return (
    <div className="story">
      <ModeNote mode="off" />
      <Section title={t('begin.title')}>
        <ol className="begin">
          {STEPS.map((step) => (
            <li key={step}>
              {t(`begin.${step}`)}
              {SETTINGS[step] !== '' && <pre>{SETTINGS[step]}</pre>}
            </li>
          ))}
        </ol>
      </Section>
      <Section title={t('begin.ready')}>
        {READY.map(({ id, policy }) => (
          <details key={id} className="ready">
            <summary>{readyTitle(id, t)}</summary>
            <pre>{policy}</pre>
          </details>
        ))}
      </Section>
    </div>
  );
}
