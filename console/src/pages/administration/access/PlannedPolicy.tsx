import { Alert } from '@mantine/core';
import type { ReactNode } from 'react';
import { textAt } from '../../../api/json.js';
import { useMessages } from '../../../messages/messages.js';
import { TextDifferences } from '../../../widgets/TextDifferences.js';
import { cedarHighlighting } from './CedarEditor.js';

/** What a change of a policy that waits would do: what differs in its text, and what becomes of everything else. */
export function PlannedPolicy({ plan }: { readonly plan: Readonly<Record<string, unknown>> }): ReactNode {
  const { t } = useMessages();
  const [before, after] = [textAt(plan, 'before'), textAt(plan, 'after')];
  return (
    <>
      {plan['alone'] === true && (
        <Alert color="yellow" my="xs">
          {t(before === '' ? 'policies.first' : 'policies.last')}
        </Alert>
      )}
      <TextDifferences
        before={before}
        after={after}
        label={t('policies.differs')}
        language={cedarHighlighting}
      />
    </>
  );
}
