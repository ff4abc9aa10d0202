import './emergency.css';
import type { SetMark } from '@everchart/client';
import type { ReactNode } from 'react';
import { useMessages } from '../../messages/messages.js';
import { Time } from '../../widgets/Time.js';
import { aboutOf } from './mark-words.js';

/** One restriction in words: what it means, what it is about, why, since when and by whom. */
export function MarkLine({ mark }: { readonly mark: SetMark }): ReactNode {
  const { t } = useMessages();
  const about = aboutOf(mark);
  return (
    <div className="mark">
      <div>
        <b>{t(`marks.${mark.kind}`)}</b>
      </div>
      <div>
        {about.length === 0
          ? t('marks.whole')
          : about.map(({ name, value }) => (
              <span key={name} className="mark-about">
                {t(`marks.about.${name}`)}{' '}
                {/^(from|to)$/.test(name) ? <Time value={value} /> : <code>{value}</code>}
              </span>
            ))}
      </div>
      <div>
        <q>{mark.ground}</q>
      </div>
      <div className="quiet small">
        {t('marks.set')} <Time value={mark.time} /> · {mark.by}
        {mark.lifted !== undefined && (
          <>
            {' · '}
            {t('marks.lifted')} <Time value={mark.lifted.time} /> · {mark.lifted.by}
          </>
        )}
      </div>
    </div>
  );
}
