import { Button, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { PolicyFinding } from '../../../api/access.js';
import { useMessages } from '../../../messages/messages.js';
import { offsetIn } from './places.js';

/** What is wrong with a text, each with its place, to which a click leads; or that nothing is. */
export function Findings({
  checked,
  text,
  onPick,
}: {
  readonly checked: { readonly text: string; readonly findings: readonly PolicyFinding[] } | null;
  readonly text: string;
  readonly onPick: (offset: number) => void;
}): ReactNode {
  const { t } = useMessages();
  if (text.trim() === '') return null;
  const isKnown = checked?.text === text;
  const findings = isKnown ? checked.findings : [];
  return (
    <div role="status" className="policy-findings">
      {!isKnown && (
        <Text size="sm" c="dimmed">
          {t('policies.checking')}
        </Text>
      )}
      {isKnown && findings.length === 0 && (
        <Text size="sm" className="well">
          {t('policies.fine')}
        </Text>
      )}
      <ul>
        {findings.map(({ kind, message, line = 1, column = 1 }) => (
          <li key={`${line}:${column} ${message}`} data-kind={kind}>
            <Button
              size="compact-xs"
              variant="subtle"
              color="gray"
              onClick={() => onPick(offsetIn(text, line, column))}
            >
              {t('policies.place', { line, column })}
            </Button>{' '}
            <b>{t(`policies.finding.${kind}`)}</b> <span lang="en">{message}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}
