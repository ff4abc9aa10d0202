import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { NewContribution } from '@everchart/client';
import { useMessages } from '../../messages/messages.js';
import { compositionView, patientView } from '../../shell/address.js';
import { ChangeType } from '../../widgets/ChangeType.js';
import { Time } from '../../widgets/Time.js';
import { ViewLink } from '../../widgets/ViewLink.js';

/** What was committed last: what, by whom, into which record. */
export function Contributions({
  contributions,
}: {
  readonly contributions: readonly NewContribution[];
}): ReactNode {
  return (
    <ul className="lines">
      {contributions.map((contribution) => (
        <Line key={contribution.uid} {...contribution} />
      ))}
    </ul>
  );
}

function Line({
  ehr_id: ehrId,
  time_committed: time,
  committer,
  change_type,
  versions,
}: NewContribution): ReactNode {
  const { t } = useMessages();
  const [first] = versions;
  const more = versions.length > 1 ? ` +${versions.length - 1}` : '';
  const what = (
    <>
      <ChangeType rubric={change_type} /> · {`${first?.type ?? '–'}${more}`}
    </>
  );
  return (
    <li>
      <div>
        {first?.type === 'COMPOSITION' && change_type !== 'deleted' ? (
          <ViewLink view={compositionView(ehrId, first.uid)}>{what}</ViewLink>
        ) : (
          <span>{what}</span>
        )}
        <Text size="sm" c="dimmed">
          {committer} · {t('overview.in')}{' '}
          <ViewLink underline="always" view={patientView(ehrId)} size="sm" className="mono" title={ehrId}>
            {ehrId.slice(0, 8)}
          </ViewLink>
        </Text>
      </div>
      <Text size="sm" c="dimmed" className="line-end">
        <Time value={time} isAgo />
      </Text>
    </li>
  );
}
