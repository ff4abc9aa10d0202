import { Button, Checkbox, Group, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { ACTIONS } from '../../../../../policy/schema.js';
import type { Action } from '../../../../../policy/subject.js';
import type { StoredPolicy } from '../../../api/access.js';
import { useMessages } from '../../../messages/messages.js';
import { useApi } from '../../../session/session.js';
import { useKept } from '../../../widgets/use-kept.js';
import { Section } from '../../../widgets/Page.js';
import { Failure, Loading } from '../../../widgets/states.js';
import { ViewLink } from '../../../widgets/ViewLink.js';
import { ComparisonView } from './ComparisonView.js';
import { linesOf, policiesOf } from './draft.js';
import { NO_PRINCIPAL, principalOf, type PrincipalTexts } from './principal.js';
import { policyView } from './policy-view.js';
import { PrincipalFields } from './PrincipalFields.js';
import { useDraft, usePolicies } from './use-policies.js';

/** The server compares for as many at once, each for each action. */
const MOST_REQUESTS = 20;

/** What would be seen by whom if what is written held. */
export function CompareDraft(): ReactNode {
  const { data, error, refetch } = usePolicies();
  if (error !== null) return <Failure error={error} retry={() => void refetch()} />;
  return data === undefined ? <Loading rows={4} /> : <Comparing stored={data} />;
}

function Comparing({ stored }: { readonly stored: readonly StoredPolicy[] }): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  const { draft, write } = useDraft(stored);
  const [people, setPeople] = useKept(['compared-principals'], [NO_PRINCIPAL]);
  const [actions, setActions] = useState<readonly Action[]>(['read']);
  const compare = useMutation({
    mutationFn: async () => {
      const principals = people.map(principalOf);
      const policies = policiesOf(draft, stored);
      return { principals, comparison: await api.comparePolicies({ policies, principals, actions }) };
    },
  });
  const lines = linesOf(draft, stored);
  const isTooMuch = people.length * actions.length > MOST_REQUESTS;
  return (
    <div className="story access-story">
      <Section title={t('compare.draft')}>
        {lines.length === 0 && <Text c="dimmed">{t('compare.nothingWritten')}</Text>}
        <ul className="draft-lines">
          {lines.map(({ id, change }) => (
            <li key={id}>
              <ViewLink view={policyView(id)}>{id}</ViewLink>{' '}
              <b className="flag">{t(`policies.is.${change}`)}</b>
              <Button size="compact-xs" variant="default" onClick={() => write(id, undefined)}>
                {t('compare.without', { id })}
              </Button>
            </li>
          ))}
        </ul>
        <LeaveOut
          ids={stored.map(({ id }) => id).filter((id) => lines.every((line) => line.id !== id))}
          onLeave={(id) => write(id, null)}
        />
      </Section>
      <Section title={t('compare.forWhom')}>
        <People people={people} setPeople={setPeople} />
        <Checkbox.Group
          mt="md"
          label={t('compare.actions')}
          value={[...actions]}
          onChange={(chosen) => setActions(ACTIONS.filter((action) => chosen.includes(action)))}
        >
          <Group gap="md" mt={4}>
            {ACTIONS.map((action) => (
              <Checkbox key={action} value={action} label={t(`action.${action}`)} />
            ))}
          </Group>
        </Checkbox.Group>
        {isTooMuch && <Text className="flag">{t('compare.tooMuch', { most: MOST_REQUESTS })}</Text>}
      </Section>
      <Group>
        <Button
          disabled={actions.length === 0 || isTooMuch || lines.length === 0}
          loading={compare.isPending}
          onClick={() => compare.mutate()}
        >
          {t('compare.compare')}
        </Button>
      </Group>
      <div role="status">
        {compare.error !== null && <Failure error={compare.error} />}
        {compare.data !== undefined && <ComparisonView {...compare.data} />}
      </div>
    </div>
  );
}

/** Those for whom it is compared, at least one. */
function People({
  people,
  setPeople,
}: {
  readonly people: readonly PrincipalTexts[];
  readonly setPeople: (people: PrincipalTexts[]) => void;
}): ReactNode {
  const { t } = useMessages();
  return (
    <>
      <ol className="people">
        {people.map((person, index) => (
          <li key={index}>
            <PrincipalFields
              value={person}
              onChange={(next) => setPeople(people.map((each, at) => (at === index ? next : each)))}
            />
            {people.length > 1 && (
              <Button
                size="compact-xs"
                variant="default"
                mt={4}
                onClick={() => setPeople(people.filter((_, at) => at !== index))}
              >
                {t('compare.fewer', { number: index + 1 })}
              </Button>
            )}
          </li>
        ))}
      </ol>
      <Button size="xs" variant="default" onClick={() => setPeople([...people, NO_PRINCIPAL])}>
        {t('compare.more')}
      </Button>
    </>
  );
}

/** Stored policies that a draft can do without. */
function LeaveOut({
  ids,
  onLeave,
}: {
  readonly ids: readonly string[];
  readonly onLeave: (id: string) => void;
}): ReactNode {
  const { t } = useMessages();
  if (ids.length === 0) return null;
  return (
    <details className="leave-out">
      <summary>{t('compare.leaveOut')}</summary>
      <Group gap="xs" mt="xs">
        {ids.map((id) => (
          <Button key={id} size="compact-sm" variant="default" onClick={() => onLeave(id)}>
            {id}
          </Button>
        ))}
      </Group>
    </details>
  );
}
