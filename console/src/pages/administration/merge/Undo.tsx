import { Button, Group, SegmentedControl, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import type { ConflictChoice, MergeDetails, UnmergeRequest } from '@everchart/client';
import { useMessages } from '../../../messages/messages.js';
import { useApi } from '../../../session/session.js';
import { Failure } from '../../../widgets/states.js';
import { Motive, NO_MOTIVE, sentMotive } from '../Motive.js';
import { allObstacles, obstaclesOf, withChoice, type ConflictChoices, type Obstacle } from './obstacles.js';
import { Outcome } from './Outcome.js';

/** Takes a merge back: what it would do, what was written since and what becomes of it, why. */
export function Undo({
  merge,
  onStart,
}: {
  readonly merge: MergeDetails;
  readonly onStart: () => void;
}): ReactNode {
  const { t } = useMessages();
  const [choices, setChoices] = useState<ConflictChoices>({});
  const [motive, setMotive] = useState(NO_MOTIVE);
  const { plan, undo, obstacles } = useUndo(merge);
  const look = (next: ConflictChoices): void => {
    onStart();
    setChoices(next);
    plan.mutate(next);
  };
  // Obstacles are shown as choices, any other failure as it is.
  const error = obstaclesOf(plan.error).length > 0 ? undo.error : (plan.error ?? undo.error);
  const isPlanned = plan.data !== undefined;
  return (
    <>
      {obstacles.length > 0 && (
        <Obstacles
          obstacles={obstacles}
          choices={choices}
          onChoose={(obstacle, choice) => look(withChoice(choices, obstacle, choice))}
        />
      )}
      {isPlanned && (
        <>
          <Text className="plan" mt="xs" role="status" component="div">
            <Outcome summary={plan.data.outcome.summary} />
          </Text>
          <Motive value={motive} onChange={setMotive} />
        </>
      )}
      {error !== null && <Failure error={error} />}
      <Group gap="xs" mt="xs">
        <Button size="xs" variant="default" loading={plan.isPending} onClick={() => look(choices)}>
          {t('merge.undoPlan')}
        </Button>
        {isPlanned && (
          <Button
            size="xs"
            loading={undo.isPending}
            onClick={() => undo.mutate({ on_conflict: choices, ...sentMotive(motive) })}
          >
            {t('merge.undo')}
          </Button>
        )}
      </Group>
    </>
  );
}

function useUndo({ source_ehr, target_ehr }: MergeDetails) {
  const api = useApi();
  const queries = useQueryClient();
  const [obstacles, setObstacles] = useState<readonly Obstacle[]>([]);
  const seen = (error: unknown): void => setObstacles((before) => allObstacles(before, obstaclesOf(error)));
  const ask = (more: Partial<UnmergeRequest>): Promise<MergeDetails> => {
    const { on_conflict: choices = {}, ...rest } = more;
    const isChosen = Object.keys(choices).length > 0;
    return api.unmerge({ source_ehr, target_ehr, ...rest, ...(isChosen && { on_conflict: choices }) });
  };
  const plan = useMutation({
    mutationFn: (choices: ConflictChoices) => ask({ dry_run: true, on_conflict: choices }),
    onError: seen,
  });
  const undo = useMutation({
    mutationFn: ask,
    onError: seen,
    onSuccess: () => queries.invalidateQueries(),
  });
  return { plan, undo, obstacles };
}

function Obstacles({
  obstacles,
  choices,
  onChoose,
}: {
  readonly obstacles: readonly Obstacle[];
  readonly choices: ConflictChoices;
  readonly onChoose: (obstacle: Obstacle, choice: ConflictChoice) => void;
}): ReactNode {
  const { t } = useMessages();
  return (
    <>
      <Text fw={600} mt="sm">
        {t('merge.obstacles')}
      </Text>
      <ul className="obstacles">
        {obstacles.map((obstacle) => (
          <li key={obstacle.message}>
            {obstacle.title !== null && <Text size="sm">{t(obstacle.title)}</Text>}
            <Text size="sm" className="message" {...(obstacle.title !== null && { c: 'dimmed' })} lang="en">
              {obstacle.message}
            </Text>
            {obstacle.choices.length === 0 ? (
              <Text size="sm" className="flag">
                {t('merge.noChoice')}
              </Text>
            ) : (
              <SegmentedControl
                size="xs"
                aria-label={obstacle.message}
                value={choices[obstacle.keys[0] ?? ''] ?? ''}
                onChange={(choice) => onChoose(obstacle, choice as ConflictChoice)}
                data={obstacle.choices.map((value) => ({ value, label: t(`merge.${value}`) }))}
              />
            )}
          </li>
        ))}
      </ul>
    </>
  );
}
