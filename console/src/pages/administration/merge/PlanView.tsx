import { SegmentedControl, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { MergeDetails, MergeResolutions } from '@everchart/client';
import { useMessages } from '../../../messages/messages.js';
import { numberText } from '../../../widgets/number-text.js';
import { Time } from '../../../widgets/Time.js';
import { Outcome } from './Outcome.js';
import { PairContents } from './PairContents.js';
import {
  isEmpty,
  shownPlan,
  withField,
  withPair,
  type PairChoice,
  type PlannedField,
  type PlannedPair,
  type ShownPlan,
  type Side,
} from './merge-plan.js';

/** What a merge would do; with `onChoose`, what survives where both EHRs say something can be chosen. */
export function PlanView({
  details,
  resolutions = {},
  onChoose,
}: {
  readonly details: MergeDetails;
  readonly resolutions?: MergeResolutions;
  readonly onChoose?: (resolutions: MergeResolutions) => void;
}): ReactNode {
  const { t } = useMessages();
  const plan = shownPlan(details);
  return (
    <>
      <Text className="plan" mt="md" role="status" component="div">
        {plan === null ? <Outcome summary={details.outcome.summary} /> : <Moves plan={plan} />}
      </Text>
      {plan !== null && isEmpty(plan) && <Text className="flag">{t('merge.nothingMoves')}</Text>}
      {plan !== null && (
        <>
          <Facts plan={plan} />
          {plan.pairs.length > 0 && (
            <Pairs
              pairs={plan.pairs}
              ehrs={{ source: details.source_ehr, target: details.target_ehr }}
              onChoose={onChoose && ((id, choice) => onChoose(withPair(resolutions, id, choice)))}
            />
          )}
          {plan.fields.length > 0 && (
            <Fields
              fields={plan.fields}
              onChoose={onChoose && ((field, side) => onChoose(withField(resolutions, field, side)))}
            />
          )}
        </>
      )}
    </>
  );
}

function Moves({ plan }: { readonly plan: ShownPlan }): ReactNode {
  const { t, language } = useMessages();
  return t('merge.moves', {
    compositions: numberText(plan.moved, language),
    joined: numberText(plan.joined, language),
    contributions: numberText(plan.contributions, language),
    tags: numberText(plan.movedTags, language),
  });
}

function Facts({ plan }: { readonly plan: ShownPlan }): ReactNode {
  const { t, language } = useMessages();
  const documents = numberText(plan.documents, language);
  const seconds = numberText(plan.seconds, language, 1);
  return (
    <ul className="hints">
      <li>{t(plan.inSteps ? 'merge.inSteps' : 'merge.inOne', { documents, seconds })}</li>
      {plan.folders === 'append' && <li>{t('merge.foldersAppend')}</li>}
      {plan.folders === 'create' && <li>{t('merge.foldersCreate')}</li>}
      {plan.deletedTags > 0 && (
        <li>{t('merge.tagsEnd', { count: numberText(plan.deletedTags, language) })}</li>
      )}
      {plan.notPaired.map(({ templateId, source, target }) => (
        <li key={templateId}>{t('merge.notPaired', { templateId, source, target })}</li>
      ))}
    </ul>
  );
}

const REASONS = {
  chosen: 'merge.because.chosen',
  complete: 'merge.because.complete',
  later: 'merge.because.later',
} as const;

function Pairs({
  pairs,
  ehrs,
  onChoose,
}: {
  readonly pairs: readonly PlannedPair[];
  readonly ehrs: Readonly<Record<Side, string>>;
  readonly onChoose: ((templateId: string, choice: PairChoice) => void) | undefined;
}): ReactNode {
  const { t } = useMessages();
  return (
    <>
      <Text fw={600} mt="md">
        {t('merge.pairs')}
      </Text>
      <ul className="lines">
        {pairs.map(({ templateId, choice, reason, versions }) => (
          <li key={templateId}>
            <div>
              <Text>{templateId}</Text>
              {versions.map(({ side, time, lifecycle }) => (
                <Text key={side} size="sm" c="dimmed" component="div">
                  {t(`merge.${side}`)}: <Time value={time} />
                  {lifecycle === '553' && ` · ${t('state.draft')}`}
                </Text>
              ))}
              {reason in REASONS && <Text size="sm">{t(REASONS[reason as keyof typeof REASONS])}</Text>}
              <PairContents ehrs={ehrs} versions={versions} />
            </div>
            <SegmentedControl
              size="xs"
              className="line-choice"
              aria-label={t('merge.pairChoice', { templateId })}
              value={choice}
              disabled={onChoose === undefined}
              onChange={(next) => onChoose?.(templateId, next)}
              data={(['source', 'target', 'both'] as const).map((value) => ({
                value,
                label: t(`merge.${value}`),
              }))}
            />
          </li>
        ))}
      </ul>
    </>
  );
}

function Fields({
  fields,
  onChoose,
}: {
  readonly fields: readonly PlannedField[];
  readonly onChoose: ((field: string, side: Side) => void) | undefined;
}): ReactNode {
  const { t } = useMessages();
  return (
    <>
      <Text fw={600} mt="md">
        {t('merge.fields')}
      </Text>
      <ul className="lines">
        {fields.map(({ field, source, target, survivor }) => (
          <li key={field}>
            <div>
              <Text className="mono">{field}</Text>
              {[
                { side: 'source' as const, text: source },
                { side: 'target' as const, text: target },
              ].map(({ side, text }) => (
                <Text key={side} size="sm" c="dimmed" className="message">
                  {t(`merge.${side}`)}: {text}
                </Text>
              ))}
            </div>
            <SegmentedControl
              size="xs"
              className="line-choice"
              aria-label={t('merge.fieldChoice', { field })}
              value={survivor}
              disabled={onChoose === undefined}
              onChange={(next) => onChoose?.(field, next)}
              data={(['source', 'target'] as const).map((value) => ({ value, label: t(`merge.${value}`) }))}
            />
          </li>
        ))}
      </ul>
    </>
  );
}
