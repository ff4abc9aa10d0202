import { Button, Checkbox, Group, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import type { MergeRequest } from '@everchart/client';
import { useMessages } from '../../messages/messages.js';
import { useApi } from '../../session/session.js';
import { patientView, useAddress } from '../../shell/address.js';
import { Section } from '../../widgets/Page.js';
import { Failure } from '../../widgets/states.js';
import { ViewLink } from '../../widgets/ViewLink.js';
import { PatientPicker } from './PatientPicker.js';
import { PatientSummary } from './PatientSummary.js';

interface Choices {
  readonly reversible: boolean;
  readonly folder_merge: 'BASIC' | 'COPY';
  readonly composition_merge: 'BASIC' | 'PERSISTENT';
}

/** Merging as a story: choose two, compare them, see the plan, do it. */
export function MergeTab(): ReactNode {
  const { t } = useMessages();
  const { address, change } = useAddress();
  const { source = '', target = '' } = address;
  const isChosen = source !== '' && target !== '' && source !== target;
  return (
    <div className="story">
      <Section title={t('merge.choose')}>
        <div className="pair">
          <PatientPicker
            label={t('merge.source')}
            hint={t('merge.sourceHint')}
            value={source}
            onChange={(ehrId) => change({ source: ehrId })}
          />
          <PatientPicker
            label={t('merge.target')}
            hint={t('merge.targetHint')}
            value={target}
            onChange={(ehrId) => change({ target: ehrId })}
          />
        </div>
      </Section>
      {source !== '' && source === target && <Text className="flag">{t('merge.same')}</Text>}
      {isChosen && (
        <>
          <Section title={t('merge.compare')}>
            <div className="pair">
              <PatientSummary ehrId={source} />
              <PatientSummary ehrId={target} />
            </div>
          </Section>
          <Decision key={`${source} ${target}`} source={source} target={target} />
        </>
      )}
    </div>
  );
}

function Decision({ source, target }: { readonly source: string; readonly target: string }): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  const queries = useQueryClient();
  const [choices, setChoices] = useState<Choices>({
    reversible: true,
    folder_merge: 'BASIC',
    composition_merge: 'BASIC',
  });
  const request: MergeRequest = { ...choices, source_ehr: source, target_ehr: target };
  const plan = useMutation({ mutationFn: () => api.planMerge(request) });
  const merge = useMutation({
    mutationFn: () => api.merge(request),
    // What was compared stays as it was: the source is gone.
    onSuccess: () => queries.invalidateQueries({ refetchType: 'none' }),
  });
  const choose = (change: Partial<Choices>): void => {
    plan.reset();
    setChoices((before) => ({ ...before, ...change }));
  };
  if (merge.data !== undefined) return <Done summary={merge.data.outcome.summary} target={target} />;
  const error = plan.error ?? merge.error;
  return (
    <Section title={t('merge.decide')}>
      <ChoiceBoxes choices={choices} onChoose={choose} />
      {plan.data !== undefined && (
        <Text className="plan" mt="md" role="status">
          {plan.data.outcome.summary}
        </Text>
      )}
      {error !== null && <Failure error={error} />}
      <Group mt="md" gap="xs">
        <Button
          variant={plan.data === undefined ? 'filled' : 'default'}
          loading={plan.isPending}
          onClick={() => plan.mutate()}
        >
          {t('merge.plan')}
        </Button>
        {plan.data !== undefined && (
          <Button loading={merge.isPending} onClick={() => merge.mutate()}>
            {t('merge.go')}
          </Button>
        )}
      </Group>
    </Section>
  );
}

function ChoiceBoxes({
  choices,
  onChoose,
}: {
  readonly choices: Choices;
  readonly onChoose: (change: Partial<Choices>) => void;
}): ReactNode {
  const { t } = useMessages();
  return (
    <div className="lines">
      <Checkbox
        mt="xs"
        label={t('merge.reversible')}
        description={t('merge.reversibleHint')}
        checked={choices.reversible}
        onChange={(event) => onChoose({ reversible: event.currentTarget.checked })}
      />
      <Checkbox
        mt="xs"
        label={t('merge.folders')}
        checked={choices.folder_merge === 'COPY'}
        onChange={(event) => onChoose({ folder_merge: event.currentTarget.checked ? 'COPY' : 'BASIC' })}
      />
      <Checkbox
        mt="xs"
        label={t('merge.persistent')}
        checked={choices.composition_merge === 'PERSISTENT'}
        onChange={(event) =>
          onChoose({ composition_merge: event.currentTarget.checked ? 'PERSISTENT' : 'BASIC' })
        }
      />
    </div>
  );
}

function Done({ summary, target }: { readonly summary: string; readonly target: string }): ReactNode {
  const { t } = useMessages();
  return (
    <Section title={t('merge.done')}>
      <Text className="plan" role="status">
        {summary}
      </Text>
      <Group mt="md">
        <ViewLink view={patientView(target)}>{t('merge.open')}</ViewLink>
        <ViewLink view={{ to: '/administration', search: { tab: 'merges' } }}>
          {t('merge.undoWhere')}
        </ViewLink>
      </Group>
    </Section>
  );
}
