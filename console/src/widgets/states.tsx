import { Alert, Button, Group, Skeleton, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { CdrError, type Violation } from '@everchart/client';
import { findingText } from '../messages/finding-text.js';
import { useMessages } from '../messages/messages.js';
import type { Translate } from '../messages/translate.js';
import { patientView } from '../shell/address.js';
import { Id } from './Id.js';
import { ViewLink } from './ViewLink.js';

/** Nothing is here yet: what it is for, and the one action that fills it. */
export function Empty({
  title,
  children,
  action,
}: {
  readonly title: string;
  readonly children?: ReactNode;
  readonly action?: ReactNode;
}): ReactNode {
  return (
    <Stack className="empty" align="flex-start" gap={4}>
      <Text fw={600}>{title}</Text>
      {children !== undefined && <Text c="dimmed">{children}</Text>}
      {action !== undefined && <Group mt="sm">{action}</Group>}
    </Stack>
  );
}

/** Rows that hold the place of what is coming. */
export function Loading({
  rows = 6,
  height = 18,
}: {
  readonly rows?: number;
  readonly height?: number;
}): ReactNode {
  const { t } = useMessages();
  return (
    <Stack gap="sm" role="status" aria-label={t('state.loading')}>
      {Array.from({ length: rows }, (_, index) => (
        <Skeleton key={index} height={height} width={`${100 - ((index * 7) % 30)}%`} />
      ))}
    </Stack>
  );
}

/** What went wrong, what to do, and the id that finds it in the log. */
export function Failure({
  error,
  retry,
}: {
  readonly error: unknown;
  readonly retry?: () => void;
}): ReactNode {
  const { t } = useMessages();
  const known = error instanceof CdrError ? error : null;
  const { title, text } = failureTexts(error, t);
  return (
    <Alert color="red" variant="light" title={title} role="alert">
      <Stack gap="xs" align="flex-start">
        <Text className="message">{text}</Text>
        {known !== null && <Details error={known} />}
        {retry !== undefined && (
          <Button variant="default" size="xs" onClick={retry}>
            {t('error.retry')}
          </Button>
        )}
      </Stack>
    </Alert>
  );
}

function Details({ error }: { readonly error: CdrError }): ReactNode {
  const { t } = useMessages();
  return (
    <>
      {error.mergedInto !== undefined && (
        <ViewLink view={patientView(error.mergedInto)}>{t('error.openMerged')}</ViewLink>
      )}
      <Findings of={error.violations} />
      {error.requestId !== undefined && (
        <Text size="sm" c="dimmed">
          {t('error.request')} <Id value={error.requestId} length={40} />
        </Text>
      )}
    </>
  );
}

function Findings({ of }: { readonly of: readonly Violation[] }): ReactNode {
  const reader = useMessages();
  // One about the whole says what the message says.
  const findings = of.filter(({ path }) => path !== '/');
  if (findings.length === 0) return null;
  return (
    <ul className="findings">
      {findings.map((finding) => (
        <li key={`${finding.path} ${finding.message}`}>
          {finding.path !== '' && <code>{finding.path}</code>} {findingText(finding, reader)}
        </li>
      ))}
    </ul>
  );
}

/** What went wrong, in words. */
export function failureTexts(
  error: unknown,
  t: Translate,
): { readonly title: string; readonly text: string } {
  const known = error instanceof CdrError ? error : null;
  if (known?.code === 'restricted') return { title: t('error.restricted'), text: t('error.restrictedHint') };
  const text = known?.status === 0 ? t('error.unreachable') : (known?.message ?? String(error));
  return { title: t(titleOf(known?.status)), text };
}

function titleOf(status: number | undefined) {
  switch (status) {
    case 0:
      return 'error.away';
    case 401:
    case 403:
      return 'error.forbidden';
    case 404:
      return 'error.missing';
    case 408:
      return 'error.timeout';
    default:
      return 'error.title';
  }
}
