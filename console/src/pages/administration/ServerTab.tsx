import { Button, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { items } from '../../api/json.js';
import { useMessages } from '../../messages/messages.js';
import { useApi } from '../../session/session.js';
import { Section } from '../../widgets/Page.js';
import { Failure } from '../../widgets/states.js';
import { CopyText } from '../composition/SourceText.js';
import { Jobs } from './Jobs.js';
import { ServerState } from './ServerState.js';

/** How the server is, what goes on in the background, and the check of all that is stored. */
export function ServerTab(): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  const queries = useQueryClient();
  const verify = useMutation({
    mutationFn: api.verify,
    onSettled: () => queries.invalidateQueries({ queryKey: ['overview'] }),
  });
  const violations = items(verify.data?.violations).length;
  return (
    <>
      <Section title={t('server.state')}>
        <ServerState />
      </Section>
      <Section title={t('jobs.title')}>
        <Jobs isStarting={verify.isPending} />
      </Section>
      <Section title={t('server.verify')}>
        <Text c="dimmed" mb="xs">
          {t('server.verifyHint')}
        </Text>
        <Button variant="default" loading={verify.isPending} onClick={() => verify.mutate()}>
          {t('server.verify')}
        </Button>
        {verify.error !== null && <Failure error={verify.error} />}
        {verify.data !== undefined && (
          <>
            <Text role="status" my="sm" className={violations === 0 ? 'well' : 'flag'}>
              {t(violations === 0 ? 'server.well' : 'server.violations', { count: violations })}
            </Text>
            <CopyText text={JSON.stringify(verify.data, null, 2)} label={t('server.verify')} />
          </>
        )}
      </Section>
    </>
  );
}
