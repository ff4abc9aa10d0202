import { Button, Group, Table } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import type { StoredPolicy } from '../../../api/access.js';
import { useMessages } from '../../../messages/messages.js';
import { Empty } from '../../../widgets/states.js';
import { Time } from '../../../widgets/Time.js';
import { ViewLink } from '../../../widgets/ViewLink.js';
import { linesOf, textIn, type DraftLine, type PolicyDraft } from './draft.js';
import { NewPolicy } from './NewPolicy.js';
import { policyGist } from './policy-gist.js';
import { policyView } from './policy-view.js';
import { useDraft } from './use-policies.js';
import { WaitingPolicies } from './WaitingPolicies.js';

/** The policies that hold, and what is written of them and not stored. */
export function PolicyList({ stored }: { readonly stored: readonly StoredPolicy[] }): ReactNode {
  const { t } = useMessages();
  const { draft, write } = useDraft(stored);
  const [isBeginning, setIsBeginning] = useState(false);
  const isEmpty = stored.length + Object.keys(draft).length === 0;
  const begin = isBeginning || isEmpty;
  return (
    <>
      <WaitingPolicies />
      {isEmpty && <Empty title={t('policies.none')}>{t('policies.noneHint')}</Empty>}
      {!begin && (
        <Group mb="sm">
          <Button variant="default" onClick={() => setIsBeginning(true)}>
            {t('policies.new')}
          </Button>
        </Group>
      )}
      {begin && (
        <NewPolicy
          taken={[...stored.map(({ id }) => id), ...Object.keys(draft)]}
          onBegin={write}
          close={isEmpty ? null : () => setIsBeginning(false)}
        />
      )}
      {!isEmpty && <PolicyTable stored={stored} draft={draft} />}
    </>
  );
}

function PolicyTable({
  stored,
  draft,
}: {
  readonly stored: readonly StoredPolicy[];
  readonly draft: PolicyDraft;
}): ReactNode {
  const { t } = useMessages();
  const lines = linesOf(draft, stored);
  return (
    <Table.ScrollContainer minWidth={560}>
      <Table className="grid cards policies" role="table">
        <Table.Thead role="rowgroup">
          <Table.Tr role="row">
            <Table.Th role="columnheader">{t('policies.policy')}</Table.Th>
            <Table.Th role="columnheader">{t('policies.says')}</Table.Th>
            <Table.Th role="columnheader" className="end">
              {t('policies.version')}
            </Table.Th>
            <Table.Th role="columnheader">{t('policies.by')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody role="rowgroup">
          {lines
            .filter(({ change }) => change === 'new')
            .map((line) => (
              <PolicyRow key={line.id} id={line.id} text={textIn(draft, stored, line.id) ?? ''} line={line} />
            ))}
          {stored.map((policy) => (
            <PolicyRow
              key={policy.id}
              id={policy.id}
              text={policy.policy}
              stored={policy}
              line={lines.find(({ id }) => id === policy.id)}
            />
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function PolicyRow({
  id,
  text,
  stored,
  line,
}: {
  readonly id: string;
  readonly text: string;
  readonly stored?: StoredPolicy;
  readonly line: DraftLine | undefined;
}): ReactNode {
  const { t } = useMessages();
  const { effect, says, emergency, isOfCounts } = policyGist(text);
  return (
    <Table.Tr role="row">
      <Table.Td role="cell">
        <ViewLink view={policyView(id)} fw={600}>
          {id}
        </ViewLink>{' '}
        {line !== undefined && <b className="flag">{t(`policies.is.${line.change}`)}</b>}
      </Table.Td>
      <Table.Td role="cell" className="says">
        <span className={`effect ${effect}`}>{t(`policies.${effect}`)}</span>{' '}
        {emergency !== undefined && <span className="effect">{t('policies.emergency')}</span>}{' '}
        {isOfCounts && <span className="effect">{t('policies.counts')}</span>} {says}
      </Table.Td>
      <Table.Td role="cell" className="end number" data-label={t('policies.version')}>
        {stored?.version ?? '–'}
      </Table.Td>
      <Table.Td role="cell">
        {stored !== undefined && (
          <>
            <Time value={stored.time} /> · {stored.by}
          </>
        )}
      </Table.Td>
    </Table.Tr>
  );
}
