import { versionNumberOf } from '@everchart/client';
import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useMessages } from '../../messages/messages.js';
import { useApi } from '../../session/session.js';
import { compositionView } from '../../shell/address.js';
import { ChangeType } from '../../widgets/ChangeType.js';
import { Id } from '../../widgets/Id.js';
import { Empty, Failure, Loading } from '../../widgets/states.js';
import { Time } from '../../widgets/Time.js';
import { ViewLink } from '../../widgets/ViewLink.js';
import { contributionsOf, MOST_VERSIONS } from './patient-data.js';

/** What was committed into an EHR, newest first: who, when, which documents. */
export function ContributionsTab({ ehrId }: { readonly ehrId: string }): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  const { data, error } = useQuery({
    queryKey: ['contributions', ehrId],
    queryFn: () => contributionsOf(api, ehrId),
  });
  if (error !== null) return <Failure error={error} />;
  if (data === undefined) return <Loading rows={6} />;
  if (data.length === 0) return <Empty title={t('patient.empty')}>{t('patient.emptyHint')}</Empty>;
  return (
    <>
      <Text c="dimmed" size="sm" mb="xs">
        {t('patient.contributionsHint', { count: MOST_VERSIONS })}
      </Text>
      <ul className="lines">
        {data.map(({ uid, time, committer, change, versions }) => (
          <li key={uid}>
            <div>
              <ChangeType rubric={change} /> · {committer} · <Id value={uid} />
              {versions.map((version) => (
                <Text key={version.uid} component="div" size="sm">
                  <ViewLink view={compositionView(ehrId, version.uid)}>{version.name}</ViewLink>{' '}
                  <Text span c="dimmed">
                    {t('history.version', { number: versionNumberOf(version.uid) })}
                  </Text>
                </Text>
              ))}
            </div>
            <Text size="sm" c="dimmed" className="line-end">
              <Time value={time} isAgo />
            </Text>
          </li>
        ))}
      </ul>
    </>
  );
}
