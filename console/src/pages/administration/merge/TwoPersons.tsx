import { Button, Group, Modal, Stack, Text, Textarea } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import type { DistinctPair } from '../../../api/administration.js';
import { useMessages } from '../../../messages/messages.js';
import { useApi } from '../../../session/session.js';
import { patientView } from '../../../shell/address.js';
import { Failure } from '../../../widgets/states.js';
import { Time } from '../../../widgets/Time.js';
import { tell } from '../../../widgets/tell.js';
import { ViewLink } from '../../../widgets/ViewLink.js';

/** Asks the candidates and what is said of them anew. */
function useAnew(): () => Promise<void> {
  const queries = useQueryClient();
  return async () => {
    await queries.invalidateQueries({ queryKey: ['merge-candidates'] });
    await queries.invalidateQueries({ queryKey: ['distinct'] });
  };
}

/** Says of two that look alike that they are two persons, and why. */
export function SayDistinct({
  pair,
  names,
}: {
  readonly pair: readonly [string, string];
  readonly names: readonly [string, string];
}): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  const anew = useAnew();
  const [isAsked, setIsAsked] = useState(false);
  const [reason, setReason] = useState('');
  const [left, right] = names;
  const say = useMutation({
    mutationFn: () => api.sayDistinct(pair, reason.trim()),
    onSuccess: async () => {
      tell(t('distinct.said', { left, right }), async () => {
        await api.takeBackDistinct(pair);
        await anew();
      });
      setIsAsked(false);
      await anew();
    },
  });
  return (
    <>
      <Button
        size="xs"
        variant="subtle"
        color="gray"
        aria-label={t('distinct.these', { left, right })}
        onClick={() => setIsAsked(true)}
      >
        {t('distinct.say')}
      </Button>
      <Modal
        opened={isAsked}
        onClose={() => setIsAsked(false)}
        closeButtonProps={{ 'aria-label': t('keys.close') }}
        title={t('distinct.these', { left, right })}
      >
        <Stack>
          <Text size="sm">{t('distinct.hint')}</Text>
          <Textarea
            label={t('distinct.reason')}
            required
            maxLength={500}
            data-autofocus
            value={reason}
            onChange={(event) => setReason(event.currentTarget.value)}
          />
          {say.error !== null && <Failure error={say.error} />}
          <Button disabled={reason.trim() === ''} loading={say.isPending} onClick={() => say.mutate()}>
            {t('distinct.say')}
          </Button>
        </Stack>
      </Modal>
    </>
  );
}

/** Pairs of which it was said, each to be taken back; nothing where there is none. */
export function TwoPersons(): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  const { data = [] } = useQuery({ queryKey: ['distinct'], queryFn: api.distinct });
  if (data.length === 0) return null;
  return (
    <details className="more">
      <summary>{t('distinct.title', { count: data.length })}</summary>
      <ul className="lines">
        {data.map((pair) => (
          <Line key={`${pair.ehr_id} ${pair.other_ehr_id}`} pair={pair} />
        ))}
      </ul>
    </details>
  );
}

function Line({ pair }: { readonly pair: DistinctPair }): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  const anew = useAnew();
  const { ehr_id: left, other_ehr_id: right, reason, said_by: who, said_at: when } = pair;
  const takeBack = useMutation({ mutationFn: () => api.takeBackDistinct([left, right]), onSuccess: anew });
  return (
    <li>
      <div>
        {[left, right].map((ehrId) => (
          <ViewLink key={ehrId} view={patientView(ehrId)} className="mono" mr="xs" title={ehrId}>
            {ehrId.slice(0, 8)}
          </ViewLink>
        ))}
        <Text size="sm">{reason}</Text>
        <Text size="sm" c="dimmed">
          {who} · <Time value={when} isAgo />
        </Text>
        {takeBack.error !== null && <Failure error={takeBack.error} />}
      </div>
      <Group className="line-choice">
        <Button size="xs" variant="default" loading={takeBack.isPending} onClick={() => takeBack.mutate()}>
          {t('distinct.takeBack')}
        </Button>
      </Group>
    </li>
  );
}
