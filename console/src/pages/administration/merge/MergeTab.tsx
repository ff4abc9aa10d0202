import { Box, Button, Checkbox, Group, Text } from '@mantine/core';
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { MergeDetails, MergeRequest, MergeResolutions } from '@everchart/client';
import { useMessages } from '../../../messages/messages.js';
import { useApi } from '../../../session/session.js';
import { patientView, useAddress } from '../../../shell/address.js';
import { Section } from '../../../widgets/Page.js';
import { Failure } from '../../../widgets/states.js';
import { useKept } from '../../../widgets/use-kept.js';
import { ViewLink } from '../../../widgets/ViewLink.js';
import { Candidates } from './Candidates.js';
import { Jobs } from '../Jobs.js';
import { sentResolutions } from './merge-plan.js';
import { Motive, NO_MOTIVE, sentMotive, type MotiveText } from '../Motive.js';
import { PatientPicker } from '../PatientPicker.js';
import { Comparison } from './Comparison.js';
import { Outcome } from './Outcome.js';
import { PlanView } from './PlanView.js';

interface Choices {
  readonly reversible: boolean;
  readonly folder_merge: 'BASIC' | 'COPY';
  readonly composition_merge: 'BASIC' | 'PERSISTENT';
}

/** What was decided of a merge, and is there again when the page is. */
interface Decided {
  readonly choices: Choices;
  readonly resolutions: MergeResolutions;
  readonly motive: MotiveText;
  readonly isPlanned: boolean;
}

const UNDECIDED: Decided = {
  choices: { reversible: true, folder_merge: 'BASIC', composition_merge: 'BASIC' },
  resolutions: {},
  motive: NO_MOTIVE,
  isPlanned: false,
};

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
        {isChosen ? (
          <Group mt="sm" gap="md">
            <Button size="xs" variant="default" onClick={() => change({ source: target, target: source })}>
              {t('merge.swap')}
            </Button>
            <Text size="sm" c="dimmed" flex={1} miw={240}>
              {t('merge.direction')}
            </Text>
          </Group>
        ) : (
          <Candidates ehrId={source === '' ? target : source} onChoose={(pair) => change({ ...pair })} />
        )}
      </Section>
      {source !== '' && source === target && <Text className="flag">{t('merge.same')}</Text>}
      {isChosen && (
        <>
          <Section title={t('merge.compare')}>
            <Comparison source={source} target={target} />
          </Section>
          <Decision key={`${source} ${target}`} source={source} target={target} />
        </>
      )}
    </div>
  );
}

function Decision({ source, target }: { readonly source: string; readonly target: string }): ReactNode {
  const { t } = useMessages();
  const [decided, keep] = useKept(['merge-decision', source, target], UNDECIDED);
  const { choices, resolutions, motive, isPlanned } = decided;
  const decide = (parts: Partial<Decided>): void => keep({ ...decided, ...parts });
  const chosen = sentResolutions(resolutions);
  const request: MergeRequest = {
    ...choices,
    ...(chosen !== undefined && { resolutions: chosen }),
    source_ehr: source,
    target_ehr: target,
  };
  const { plan, merge } = useMerge(request, { motive, isPlanned, onDone: () => keep(UNDECIDED) });
  const choose = (change: Partial<Choices>): void => {
    // What was chosen for pairs means nothing without pairs.
    const { ehr_status } = resolutions;
    decide({ resolutions: { ehr_status }, choices: { ...choices, ...change } });
  };
  if (merge.data !== undefined) return <Done details={merge.data} />;
  const error = plan.error ?? merge.error;
  return (
    <Section title={t('merge.decide')}>
      <ChoiceBoxes choices={choices} onChoose={choose} />
      {plan.data !== undefined && plan.error === null && (
        <PlanView
          details={plan.data}
          resolutions={resolutions}
          onChoose={(next) => decide({ resolutions: next })}
        />
      )}
      {error !== null && (
        <Box mt="md">
          <Failure error={error} />
        </Box>
      )}
      {plan.data !== undefined && <Motive value={motive} onChange={(next) => decide({ motive: next })} />}
      <Group mt="md" gap="xs">
        <Button
          variant={isPlanned ? 'default' : 'filled'}
          loading={plan.isFetching}
          onClick={() => (isPlanned ? void plan.refetch() : decide({ isPlanned: true }))}
        >
          {t('merge.plan')}
        </Button>
        {plan.data !== undefined && (
          <Button
            loading={merge.isPending}
            disabled={plan.isFetching || plan.error !== null}
            onClick={() => merge.mutate()}
          >
            {t('merge.go')}
          </Button>
        )}
      </Group>
      {merge.isPending && (
        <>
          <Text mt="xs" c="dimmed" role="status">
            {t('merge.running')}
          </Text>
          <Jobs isStarting />
        </>
      )}
    </Section>
  );
}

/** The dry run, made anew whenever something else is chosen, and the merge. */
function useMerge(
  request: MergeRequest,
  { motive, isPlanned, onDone }: Pick<Decided, 'motive' | 'isPlanned'> & { readonly onDone: () => void },
) {
  const api = useApi();
  const queries = useQueryClient();
  const plan = useQuery({
    queryKey: ['merge-plan', request],
    queryFn: () => api.planMerge(request),
    enabled: isPlanned,
    placeholderData: keepPreviousData,
    // What is shown is what would happen now.
    staleTime: 0,
    gcTime: 0,
    retry: false,
    refetchOnWindowFocus: false,
  });
  const merge = useMutation({
    mutationFn: () => api.merge({ ...request, ...sentMotive(motive) }),
    // What was compared stays as it was: the source is gone.
    onSuccess: () => {
      onDone();
      return queries.invalidateQueries({ refetchType: 'none' });
    },
  });
  return { plan, merge };
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

function Done({ details }: { readonly details: MergeDetails }): ReactNode {
  const { t } = useMessages();
  const isWaiting = details.state === 'pending';
  return (
    <Section title={t(isWaiting ? 'merge.waiting' : 'merge.done')}>
      <Text className="plan" role="status" component="div">
        <Outcome summary={details.outcome.summary} />
      </Text>
      {isWaiting && <Text mt="xs">{t('merge.waitsHint')}</Text>}
      <Group mt="md">
        {!isWaiting && <ViewLink view={patientView(details.target_ehr)}>{t('merge.open')}</ViewLink>}
        <ViewLink view={{ to: '/administration', search: { tab: 'merges' } }}>
          {t(isWaiting ? 'merge.waiting' : 'merge.undoWhere')}
        </ViewLink>
      </Group>
    </Section>
  );
}
