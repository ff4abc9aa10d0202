import './emergency.css';
import type { SetMark } from '@everchart/client';
import type { ReactNode } from 'react';
import { useMessages } from '../../messages/messages.js';
import { patientView } from '../../shell/address.js';
import { ViewLink } from '../../widgets/ViewLink.js';
import { parted } from './mark-words.js';
import { useMarks } from './use-marks.js';

/** That a record is restricted, to whoever may know it. */
export function RestrictedNote({ ehrId }: { readonly ehrId: string }): ReactNode {
  const { t } = useMessages();
  const { data } = useMarks(ehrId);
  const { holding } = parted(data ?? []);
  if (holding.length === 0) return null;
  return (
    <div className="restricted-note">
      <b>{t('marks.restricted')}</b>{' '}
      {kindsOf(holding)
        .map((kind) => t(`marks.${kind}`))
        .join(', ')}{' '}
      <ViewLink view={patientView(ehrId, { tab: 'marks' })} underline="always">
        {t('marks.show')}
      </ViewLink>
    </div>
  );
}

function kindsOf(marks: readonly SetMark[]): readonly SetMark['kind'][] {
  return [...new Set(marks.map(({ kind }) => kind))];
}
