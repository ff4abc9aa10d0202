import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { asText, at, items, textAt } from '../../api/json.js';
import type { Explanation, Json } from '../../api/types.js';
import { hintText } from '../../messages/hint-text.js';
import { useMessages } from '../../messages/messages.js';
import { milliseconds, numberText } from '../../widgets/number-text.js';
import { CopyText } from '../composition/SourceText.js';
import { ownTimes } from './stage-times.js';

/** How the server answers a query: its stages in a row with documents and time, and hints in words. */
export function ExplainView({ explanation }: { readonly explanation: Explanation }): ReactNode {
  const reader = useMessages();
  const { t } = reader;
  const stages = items(explanation.stages);
  const times = ownTimes(stages.map((stage) => Number(at(stage, 'milliseconds') ?? 0)));
  const most = Math.max(...times, 0);
  const inProcess = asText(explanation.in_process ?? undefined);
  return (
    <>
      <Summary stages={stages} />
      <ol className="stages" aria-label={t('explain.stages')}>
        {stages.map((stage, index) => (
          <li key={index}>
            <Stage stage={stage} ms={times[index] ?? 0} isMost={most > 0 && times[index] === most} />
          </li>
        ))}
      </ol>
      <ul className="hints">
        {items(explanation.advice).map((advice) => (
          <li key={JSON.stringify(advice)}>{hintText(advice, reader)}</li>
        ))}
        {inProcess !== '' && <li>{t('explain.inProcess', { what: inProcess })}</li>}
      </ul>
      <CopyText text={JSON.stringify(explanation.pipeline, null, 2)} label={t('explain.pipeline')} />
    </>
  );
}

/** All of it in a line: what was read, how many rows came of it, in which time, by which indexes. */
function Summary({ stages }: { readonly stages: readonly Json[] }): ReactNode {
  const { t, language } = useMessages();
  const sum = (name: string): number =>
    stages.reduce<number>((total, stage) => total + Number(at(stage, name) ?? 0), 0);
  const count = (value: number): string => numberText(value, language);
  const ms = Math.max(0, ...stages.map((stage) => Number(at(stage, 'milliseconds') ?? 0)));
  const indexes = [...new Set(stages.map((stage) => textAt(stage, 'index')).filter((index) => index !== ''))];
  return (
    <Text role="status" mb="xs">
      {t('explain.summary', {
        read: count(sum('documents_examined')),
        rows: count(Number(at(stages.at(-1) ?? null, 'returned') ?? 0)),
        time: milliseconds(ms, language),
      })}
      {' · '}
      {indexes.length === 0 ? t('explain.noIndex') : t('explain.indexes', { indexes: indexes.join(', ') })}
    </Text>
  );
}

function Stage({
  stage,
  ms,
  isMost,
}: {
  readonly stage: Json;
  readonly ms: number;
  readonly isMost: boolean;
}): ReactNode {
  const { t, language } = useMessages();
  const read = at(stage, 'documents_examined');
  const out = at(stage, 'returned');
  const index = textAt(stage, 'index');
  return (
    <div className="stage" data-most={isMost}>
      <Text fw={600} className="mono">
        {textAt(stage, 'stage')}
      </Text>
      <Text size="sm" c="dimmed" className="number">
        {typeof read === 'number' && `${t('explain.read', { count: numberText(read, language) })} → `}
        {typeof out === 'number' && t('explain.out', { count: numberText(out, language) })}
      </Text>
      <Text size="sm" className="number">
        {milliseconds(ms, language)}
      </Text>
      {index !== '' && (
        <Text size="xs" c="dimmed" className="mono">
          {index}
        </Text>
      )}
    </div>
  );
}
