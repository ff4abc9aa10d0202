import { Table, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import type {
  AccessComparison,
  AccessDifference,
  AccessExample,
  Principal,
  SeenChange,
} from '../../../api/access.js';
import { useMessages } from '../../../messages/messages.js';
import { patientView } from '../../../shell/address.js';
import { numberText } from '../../../widgets/number-text.js';
import { ViewLink } from '../../../widgets/ViewLink.js';
import { changeSentences, changesNothing, principalText } from './decision-words.js';

/** What a draft would change, in words and numbers: for each person and action, by template, and examples. */
export function ComparisonView({
  comparison,
  principals,
}: {
  readonly comparison: AccessComparison;
  readonly principals: readonly Principal[];
}): ReactNode {
  const { t, language } = useMessages();
  const { examined, complete, differences, examples } = comparison;
  const of = (index: number): string => principalText(principals[index] ?? { sub: '', roles: [] });
  return (
    <section className="comparison" aria-label={t('compare.result')}>
      <Title order={3}>{t(changesNothing(comparison) ? 'compare.nothing' : 'compare.result')}</Title>
      <Text size="sm" c="dimmed">
        {t('compare.examined', {
          ehrs: numberText(examined.ehrs, language),
          contents: numberText(examined.versions, language),
        })}{' '}
        {!complete && t('compare.incomplete')}
      </Text>
      <ul>
        {differences.map((difference) => (
          <li key={`${difference.principal} ${difference.action}`}>
            <b>{of(difference.principal)}</b> · {t(`action.${difference.action}`)}:{' '}
            <Difference {...difference} />
          </li>
        ))}
      </ul>
      {examples.length > 0 && <Examples examples={examples} of={of} />}
    </section>
  );
}

function Difference({ ehrs, versions, templates }: AccessDifference): ReactNode {
  const words = useChangeWords();
  const { t } = useMessages();
  const all = [words(ehrs, 'records'), words(versions, 'contents')].filter((text) => text !== '');
  return (
    <>
      {all.length === 0 ? t('compare.same') : all.join(', ')}
      {Object.keys(templates).length > 0 && (
        <ul className="by-template">
          {Object.entries(templates).map(([template, change]) => (
            <li key={template}>
              <code>{template}</code>: {words(change, 'contents')}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

/** `2 records fewer, 1 record more`. */
function useChangeWords() {
  const { t, language } = useMessages();
  return (change: SeenChange, of: 'records' | 'contents'): string =>
    changeSentences(change, of)
      .map(({ key, values }) => t(key, { count: numberText(Number(values?.['count']), language) }))
      .join(', ');
}

function Examples({
  examples,
  of,
}: {
  readonly examples: readonly AccessExample[];
  readonly of: (principal: number) => string;
}): ReactNode {
  const { t } = useMessages();
  return (
    <details open={examples.length <= 10}>
      <summary>{t('compare.examples', { count: examples.length })}</summary>
      <Table.ScrollContainer minWidth={560}>
        <Table className="grid">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('compare.who')}</Table.Th>
              <Table.Th>{t('audit.record')}</Table.Th>
              <Table.Th>{t('compare.content')}</Table.Th>
              <Table.Th>{t('compare.then')}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {examples.map((example) => (
              <ExampleRow key={exampleKey(example)} example={example} who={of(example.principal)} />
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </details>
  );
}

function exampleKey({ principal, action, ehr_id: ehrId, uid }: AccessExample): string {
  return [principal, action, ehrId, uid].join(' ');
}

function ExampleRow({ example, who }: { readonly example: AccessExample; readonly who: string }): ReactNode {
  const { t } = useMessages();
  const { action, decision, policies, ehr_id: ehrId, uid, template_id: template } = example;
  const isPermitted = decision === 'permit';
  return (
    <Table.Tr>
      <Table.Td>
        {who} · {t(`action.${action}`)}
      </Table.Td>
      <Table.Td className="mono">
        <ViewLink view={patientView(ehrId)} title={ehrId}>
          {ehrId.slice(0, 8)}
        </ViewLink>
      </Table.Td>
      <Table.Td>{uid === undefined ? t('compare.wholeRecord') : (template ?? uid.slice(0, 8))}</Table.Td>
      <Table.Td className={isPermitted ? 'well' : 'flag'}>
        {t(isPermitted ? 'compare.permitted' : 'compare.forbidden')}{' '}
        <span className="quiet">{policies.join(', ')}</span>
      </Table.Td>
    </Table.Tr>
  );
}
