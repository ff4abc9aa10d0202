import { Button, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { asText, at, isObject, items, textAt } from '../../api/json.js';
import type { Json } from '../../api/types.js';
import { useMessages } from '../../messages/messages.js';
import { useApi } from '../../session/session.js';
import { numberText } from '../../widgets/number-text.js';
import { Section } from '../../widgets/Page.js';
import { Failure } from '../../widgets/states.js';
import { CopyText } from '../composition/SourceText.js';
import { Jobs } from './Jobs.js';
import { ServerState } from './ServerState.js';

/** How the server is, what goes on in the background, and the check of all that is stored. */
export function ServerTab(): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  const queries = useQueryClient();
  const verify = useMutation({
    mutationFn: api.verify,
    onSettled: () => queries.invalidateQueries({ queryKey: ['overview'] }),
  });
  const violations = items(verify.data?.violations).length;
  return (
    <>
      <Section title={t('server.state')}>
        <ServerState />
      </Section>
      <Section title={t('jobs.title')}>
        <Jobs isStarting={verify.isPending} />
      </Section>
      <Section title={t('server.verify')}>
        <Text c="dimmed" mb="xs">
          {t('server.verifyHint')}
        </Text>
        <Button variant="default" loading={verify.isPending} onClick={() => verify.mutate()}>
          {t('server.verify')}
        </Button>
        {verify.error !== null && <Failure error={verify.error} />}
        {verify.data !== undefined && (
          <>
            <Text role="status" my="sm" className={violations === 0 ? 'well' : 'flag'}>
              {t(violations === 0 ? 'server.well' : 'server.violations', { count: violations })}
            </Text>
            <Found report={verify.data} />
          </>
        )}
      </Section>
    </>
  );
}

/** Violations that are shown one by one. */
const MOST_SHOWN = 50;

/** How many of each kind were looked at, and what is wrong with which; the whole report folded. */
function Found({ report }: { readonly report: Readonly<Record<string, unknown>> }): ReactNode {
  const { t, language } = useMessages();
  const { checked = null, violations = null } = report as Readonly<Record<string, Json>>;
  return (
    <>
      <ul className="hints" aria-label={t('verify.parts')}>
        {items(violations)
          .slice(0, MOST_SHOWN)
          .map((violation, index) => (
            <li key={index} className="flag">
              {textAt(violation, 'kind')} <code>{textAt(violation, 'id')}</code>:{' '}
              <span lang="en">{textAt(violation, 'message')}</span>
            </li>
          ))}
        {(isObject(checked) ? Object.keys(checked) : []).map((kind) => (
          <li key={kind}>
            {kind}: {numberText(Number(asText(at(checked, kind))), language)}
          </li>
        ))}
      </ul>
      <details>
        <summary>{t('verify.asJson')}</summary>
        <CopyText text={JSON.stringify(report, null, 2)} label={t('server.verify')} />
      </details>
    </>
  );
}
