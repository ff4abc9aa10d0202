import { Button, Checkbox, Group, Select, SimpleGrid, Text, Title } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { versionedObjectUidOf } from '@everchart/client';
import { ACTIONS } from '../../../../../policy/schema.js';
import type { Action } from '../../../../../policy/subject.js';
import type { AccessDecision } from '../../../api/access.js';
import { useMessages } from '../../../messages/messages.js';
import { useApi, useMay, useSession } from '../../../session/session.js';
import { useKept } from '../../../widgets/use-kept.js';
import { Section } from '../../../widgets/Page.js';
import { Failure } from '../../../widgets/states.js';
import { SuggestInput } from '../../../widgets/SuggestInput.js';
import { ViewLink } from '../../../widgets/ViewLink.js';
import { compositionsOf } from '../../patient/patient-data.js';
import { reasonsOf } from './decision-words.js';
import { NO_PRINCIPAL, principalOf } from './principal.js';
import { policyView } from './policy-view.js';
import { PrincipalFields } from './PrincipalFields.js';
import { RecordInput } from './RecordInput.js';

const UNASKED = { action: 'read' as Action, ehrId: '', uid: '', isEmergency: false };

/** Asks what is decided for one person and one thing, and why. Nothing is read for it, and nobody is refused. */
export function TryDecision(): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  const [who, setWho] = useKept(['tried-principal'], NO_PRINCIPAL);
  const [asked, setAsked] = useState(UNASKED);
  const { action, ehrId, uid, isEmergency } = asked;
  const decide = useMutation({ mutationFn: api.decide });
  const change = (part: Partial<typeof UNASKED>): void => {
    setAsked({ ...asked, ...part });
    // What was decided was about something else.
    decide.reset();
  };
  return (
    <form
      className="story access-story"
      onSubmit={(event) => {
        event.preventDefault();
        decide.mutate({
          principal: principalOf(who),
          action,
          resource: { ehr_id: ehrId.trim(), ...(uid.trim() !== '' && { uid: uid.trim() }) },
          emergency: isEmergency,
        });
      }}
    >
      <Section title={t('try.who')}>
        <PrincipalFields
          value={who}
          onChange={(next) => {
            setWho(next);
            decide.reset();
          }}
        />
      </Section>
      <Section title={t('try.what')}>
        <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm" verticalSpacing="xs">
          <Select
            label={t('try.action')}
            allowDeselect={false}
            data={ACTIONS.map((value) => ({ value, label: t(`action.${value}`) }))}
            value={action}
            onChange={(next) => change({ action: ACTIONS.find((each) => each === next) ?? 'read' })}
          />
          <RecordInput
            label={t('try.record')}
            value={ehrId}
            onChange={(next) => change({ ehrId: next, uid: '' })}
          />
          <DocumentInput ehrId={ehrId} value={uid} onChange={(next) => change({ uid: next })} />
        </SimpleGrid>
        <Checkbox
          mt="sm"
          label={t('try.emergency')}
          checked={isEmergency}
          onChange={(event) => change({ isEmergency: event.currentTarget.checked })}
        />
      </Section>
      <Group>
        <Button type="submit" disabled={ehrId.trim() === ''} loading={decide.isPending}>
          {t('try.decide')}
        </Button>
      </Group>
      <div role="status">
        {decide.error !== null && <Failure error={decide.error} />}
        {decide.data !== undefined && <Decision of={decide.data} />}
      </div>
    </form>
  );
}

/** A document of the record, or with nothing the record itself. */
function DocumentInput({
  ehrId,
  value,
  onChange,
}: {
  readonly ehrId: string;
  readonly value: string;
  readonly onChange: (uid: string) => void;
}): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  const mayRead = useMay('read');
  const { data = [] } = useQuery({
    queryKey: ['compositions', ehrId],
    queryFn: () => compositionsOf(api, ehrId),
    // Not while an id is typed.
    enabled: mayRead && UUID.test(ehrId),
    retry: false,
  });
  return (
    <SuggestInput
      label={t('try.document')}
      placeholder={t('try.documentHint')}
      suggestions={data.map(({ uid, name, time, template }) => ({
        value: versionedObjectUidOf(uid),
        label: [name, time.slice(0, 10), template].join(' · '),
      }))}
      value={value}
      onChange={onChange}
    />
  );
}

const UUID = /^[0-9a-f-]{36}$/i;

function Decision({ of }: { readonly of: AccessDecision }): ReactNode {
  const { t } = useMessages();
  const { access_mode: mode } = useSession().settings;
  const isPermitted = of.decision === 'permit';
  return (
    <div className="decision" data-permitted={isPermitted}>
      <Title order={3}>{t(isPermitted ? 'try.permitted' : 'try.forbidden')}</Title>
      <ul>
        {reasonsOf(of).map(({ key, values, policy }) => (
          <li key={`${key} ${policy ?? ''}`}>
            {t(key, values)}{' '}
            {policy !== undefined && <ViewLink view={policyView(policy)}>{t('try.open')}</ViewLink>}
          </li>
        ))}
      </ul>
      {mode !== 'enforce' && (
        <Text size="sm" c="dimmed">
          {t('try.notEnforced')}
        </Text>
      )}
    </div>
  );
}
