import { Button, Group, Text, Textarea } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import type { TemplateUpgrade } from '@everchart/client';
import { useMessages } from '../../messages/messages.js';
import { rulesIn } from '../../record/template-change.js';
import { useApi } from '../../session/session.js';
import { numberText } from '../../widgets/number-text.js';
import { Section } from '../../widgets/Page.js';
import { Failure } from '../../widgets/states.js';
import { Time } from '../../widgets/Time.js';
import { UpgradePlanned } from './UpgradePlanned.js';

/** How often an upgrade that runs is looked at, ms. */
const WATCHED_MS = 1_000;

/** Moves the data of the former revision to the newest: rules, their plan, and what goes on. */
export function TemplateUpgrades({ templateId }: { readonly templateId: string }): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  const queries = useQueryClient();
  const [text, setText] = useState('{"rules": []}');
  const plan = useMutation({ mutationFn: async () => api.planUpgrade(templateId, rulesIn(text)) });
  const begin = useMutation({
    mutationFn: async (hash: string) => api.beginUpgrade(templateId, rulesIn(text), hash),
    onSuccess: async () => {
      plan.reset();
      await queries.invalidateQueries({ queryKey: ['template-upgrades', templateId] });
    },
  });
  const error = plan.error ?? begin.error;
  const { data } = plan;
  return (
    <Section title={t('upgrade.title')}>
      <Textarea
        label={t('upgrade.rules')}
        autosize
        minRows={3}
        spellCheck={false}
        value={text}
        onChange={(event) => {
          setText(event.currentTarget.value);
          plan.reset();
        }}
      />
      <Group gap="xs" mt="xs">
        <Button size="xs" variant="default" loading={plan.isPending} onClick={() => plan.mutate()}>
          {t('upgrade.plan')}
        </Button>
        {data !== undefined && (
          <Button size="xs" loading={begin.isPending} onClick={() => begin.mutate(data.hash)}>
            {t('upgrade.begin')}
          </Button>
        )}
      </Group>
      {error !== null && <Failure error={error} />}
      {data !== undefined && <UpgradePlanned plan={data} />}
      <Upgrades templateId={templateId} />
    </Section>
  );
}

function Upgrades({ templateId }: { readonly templateId: string }): ReactNode {
  const api = useApi();
  const { data = [], error } = useQuery({
    queryKey: ['template-upgrades', templateId],
    queryFn: () => api.upgrades(templateId),
    refetchInterval: ({ state }) => ((state.data ?? []).some(isAtWork) ? WATCHED_MS : false),
  });
  if (error !== null) return <Failure error={error} />;
  return (
    <ul className="jobs">
      {data.map((upgrade) => (
        <Upgrade key={upgrade.job} upgrade={upgrade} />
      ))}
    </ul>
  );
}

function isAtWork({ state }: TemplateUpgrade): boolean {
  return state === 'running' || state === 'undoing';
}

/** What may be asked of an upgrade. */
type Word = 'pause' | 'resume' | 'undo';

/** By its state. */
const WORDS: Readonly<Record<TemplateUpgrade['state'], readonly Word[]>> = {
  running: ['pause', 'resume'],
  paused: ['resume', 'undo'],
  done: ['undo'],
  undoing: ['resume'],
  undone: [],
};

function Upgrade({ upgrade }: { readonly upgrade: TemplateUpgrade }): ReactNode {
  const { t, language } = useMessages();
  const { state, reason, from, to, upgraded, undone, left } = upgrade;
  return (
    <li>
      <Text>
        {from.revision} → {to.revision} · <b>{t(`upgrade.state.${state}`)}</b>{' '}
        <Time value={upgrade.started_at} isAgo />
      </Text>
      <Text size="sm">
        {t('upgrade.done', {
          upgraded: numberText(upgraded, language),
          undone: numberText(undone, language),
          left: numberText(left, language),
        })}
      </Text>
      {reason !== undefined && (
        <Text size="sm" className="flag">
          {reason}
        </Text>
      )}
      <Steering upgrade={upgrade} />
    </li>
  );
}

function Steering({
  upgrade: { job, template_id: templateId, state },
}: {
  readonly upgrade: TemplateUpgrade;
}): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  const queries = useQueryClient();
  const steer = useMutation({
    mutationFn: (word: Word) => api.steerUpgrade(templateId, job, word),
    onSettled: () => queries.invalidateQueries({ queryKey: ['template-upgrades', templateId] }),
  });
  return (
    <>
      <Group gap="xs" mt={4}>
        {WORDS[state].map((word) => (
          <Button
            key={word}
            size="compact-xs"
            variant="default"
            loading={steer.isPending}
            onClick={() => steer.mutate(word)}
          >
            {t(`upgrade.${word}`)}
          </Button>
        ))}
      </Group>
      {steer.error !== null && <Failure error={steer.error} />}
    </>
  );
}
