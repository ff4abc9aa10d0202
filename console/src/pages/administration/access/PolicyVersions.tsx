import { Button, Group, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useMessages } from '../../../messages/messages.js';
import { useApi } from '../../../session/session.js';
import { Failure, Loading } from '../../../widgets/states.js';
import { TextDifferences } from '../../../widgets/TextDifferences.js';
import { Time } from '../../../widgets/Time.js';
import { cedarHighlighting } from './CedarEditor.js';

/** Every version of a policy, newest first, with what differs from what is in the editor, and a way back. */
export function PolicyVersions({
  id,
  text,
  onTake,
}: {
  readonly id: string;
  /** What is in the editor. */
  readonly text: string;
  readonly onTake: (text: string) => void;
}): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  const [shown, setShown] = useState<number | null>(null);
  const { data, error } = useQuery({
    queryKey: ['policy-versions', id],
    queryFn: () => api.policyVersions(id),
  });
  if (error !== null) return <Failure error={error} />;
  if (data === undefined) return <Loading rows={2} />;
  return (
    <ol className="policy-versions">
      {[...data].reverse().map(({ version, policy, time, by, confirmed_by: second }) => (
        <li key={version}>
          <Group gap="sm">
            <span>
              <b>{t('policies.versionNumber', { version })}</b> <Time value={time} isAgo /> · {by}
              {second !== undefined && ` · ${t('policies.confirmedBy', { who: second })}`}
              {policy === null && <span className="flag"> {t('policies.is.removed')}</span>}
            </span>
            {policy !== null && policy !== text && (
              <Group gap={4} ml="auto">
                <Button
                  size="compact-sm"
                  variant="default"
                  aria-expanded={shown === version}
                  onClick={() => setShown(shown === version ? null : version)}
                >
                  {t('policies.differs')}
                </Button>
                <Button size="compact-sm" variant="default" onClick={() => onTake(policy)}>
                  {t('policies.take', { version })}
                </Button>
              </Group>
            )}
            {policy !== null && policy === text && (
              <Text size="sm" c="dimmed" ml="auto">
                {t('policies.inEditor')}
              </Text>
            )}
          </Group>
          {shown === version && policy !== null && policy !== text && (
            <TextDifferences
              before={policy}
              after={text}
              label={t('policies.differs')}
              language={cedarHighlighting}
            />
          )}
        </li>
      ))}
    </ol>
  );
}
