import { Alert, Button, Group, Text, Title } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import type { StoredPolicy } from '../../../api/access.js';
import { useMessages } from '../../../messages/messages.js';
import { useApi, useSession } from '../../../session/session.js';
import { useGo, useGoOn } from '../../../shell/address.js';
import { Section } from '../../../widgets/Page.js';
import { tell } from '../../../widgets/tell.js';
import { Time } from '../../../widgets/Time.js';
import { ViewLink } from '../../../widgets/ViewLink.js';
import { CedarEditor } from './CedarEditor.js';
import { linesOf, policiesOf, textIn, type DraftLine } from './draft.js';
import { Findings } from './Findings.js';
import { accessView, policyView } from './policy-view.js';
import { PolicyFailure } from './PolicyFailure.js';
import { PolicyVersions } from './PolicyVersions.js';
import { useDraft } from './use-policies.js';
import { WaitingPolicies } from './WaitingPolicies.js';

/** Milliseconds without a key before the server is asked what is wrong. */
const CHECK_AFTER = 400;

/** One policy: its text, what is wrong with it, and all that it was before. */
export function PolicyPage({
  id,
  stored,
}: {
  readonly id: string;
  readonly stored: readonly StoredPolicy[];
}): ReactNode {
  const { t } = useMessages();
  const go = useGo();
  const { policies_take_two: takesTwo } = useSession().settings;
  const { draft, write } = useDraft(stored);
  const [edit, setEdit] = useState<{ readonly text: string; readonly cursor: number } | null>(null);
  const known = stored.find((policy) => policy.id === id);
  const text = textIn(draft, stored, id) ?? '';
  const line = linesOf(draft, stored).find((each) => each.id === id);
  const checked = useCheck(text);
  const { save, remove } = useChanges(id, () => write(id, undefined));
  const isWrong = isRefused(checked, text);
  const maySave = line !== undefined && !isWrong && text.trim() !== '' && !save.isPending;
  const replace = (next: string): void => write(id, next);
  const failure = save.error ?? remove.error;
  return (
    <div className="policy">
      <Head id={id} known={known} line={line} />
      <WaitingPolicies id={id} />
      <CedarEditor
        text={text}
        onChange={replace}
        onSave={() => maySave && save.mutate(text)}
        label={t('policies.text', { id })}
        edit={edit}
        checked={checked}
      />
      <Findings checked={checked} text={text} onPick={(cursor) => setEdit({ text, cursor })} />
      <Consequence stored={stored} after={policiesOf(draft, stored).length} isChanged={line !== undefined} />
      <Group gap="xs" mt="sm">
        <Button disabled={!maySave} loading={save.isPending} onClick={() => save.mutate(text)}>
          {t(takesTwo ? 'policies.ask' : 'policies.save')}
        </Button>
        <Button variant="default" disabled={isWrong} onClick={() => go(accessView('compare'))}>
          {t('policies.compare')}
        </Button>
        {line !== undefined && (
          <Button
            variant="default"
            onClick={() => {
              write(id, undefined);
              if (known === undefined) go(policyView());
            }}
          >
            {t('policies.discard')}
          </Button>
        )}
        {known !== undefined && <Remove onRemove={() => remove.mutate()} isPending={remove.isPending} />}
      </Group>
      {failure !== null && <PolicyFailure error={failure} />}
      {known !== undefined && (
        <Section title={t('policies.versions')}>
          <PolicyVersions id={id} text={text} onTake={(taken) => setEdit({ text: taken, cursor: 0 })} />
        </Section>
      )}
    </div>
  );
}

/** Whether the server would not store a text; not while it has not said so. */
function isRefused(checked: ReturnType<typeof useCheck>, text: string): boolean {
  return checked?.text === text && checked.findings.some(({ kind }) => kind !== 'advice');
}

/** Which policy it is, and how it is stored. */
function Head({
  id,
  known,
  line,
}: {
  readonly id: string;
  readonly known: StoredPolicy | undefined;
  readonly line: DraftLine | undefined;
}): ReactNode {
  const { t } = useMessages();
  return (
    <>
      <ViewLink view={policyView()} size="sm">
        ‹ {t('policies.all')}
      </ViewLink>
      <Group justify="space-between" align="baseline" my="xs">
        <Group gap="sm" align="baseline">
          <Title order={2}>{id}</Title>
          {line !== undefined && <b className="flag">{t(`policies.is.${line.change}`)}</b>}
          {known !== undefined && (
            <Text size="sm" c="dimmed" component="span">
              {t('policies.storedAs', { version: known.version, by: known.by })} <Time value={known.time} />
            </Text>
          )}
        </Group>
      </Group>
    </>
  );
}

/** What the server says of the text, a moment after it was typed; null: not yet, or there is none. */
function useCheck(text: string) {
  const api = useApi();
  const [wanted] = useDebouncedValue(text, CHECK_AFTER);
  const { data } = useQuery({
    queryKey: ['policy-check', wanted],
    queryFn: async () => ({ text: wanted, findings: await api.checkPolicy(wanted) }),
    enabled: wanted.trim() !== '',
    staleTime: Infinity,
    gcTime: 60_000,
  });
  return data ?? null;
}

function useChanges(id: string, forget: () => void) {
  const { t } = useMessages();
  const api = useApi();
  const goOn = useGoOn();
  const queries = useQueryClient();
  const again = async (): Promise<void> => {
    await queries.invalidateQueries({ queryKey: ['merges', 'approvals'] });
    await queries.invalidateQueries({ queryKey: ['policies'] });
    await queries.invalidateQueries({ queryKey: ['policy-versions', id] });
  };
  const save = useMutation({
    mutationFn: (text: string) => api.savePolicy(id, text),
    onSuccess: async (waits) => {
      await again();
      forget();
      tell(t(waits ? 'policies.waits' : 'policies.saved', { id }));
    },
  });
  const remove = useMutation({
    mutationFn: () => api.removePolicy(id),
    onSuccess: async (waits) => {
      await goOn(policyView());
      forget();
      await again();
      tell(t(waits ? 'policies.waits' : 'policies.removed', { id }));
    },
  });
  return { save, remove };
}

/** What saving means for everybody, where that is not what one would think. */
function Consequence({
  stored,
  after,
  isChanged,
}: {
  readonly stored: readonly StoredPolicy[];
  readonly after: number;
  readonly isChanged: boolean;
}): ReactNode {
  const { t } = useMessages();
  const { access_mode: mode, policies_take_two: takesTwo } = useSession().settings;
  if (!isChanged) return null;
  const isFirst = mode === 'enforce' && stored.length === 0 && after > 0;
  return (
    <>
      {isFirst && (
        <Alert color="yellow" mt="sm">
          {t('policies.first')}
        </Alert>
      )}
      {(takesTwo || (mode === 'enforce' && !isFirst)) && (
        <Text size="sm" c="dimmed" mt="xs">
          {t(takesTwo ? 'policies.takesTwo' : 'policies.atOnce')}
        </Text>
      )}
    </>
  );
}

/** Removing takes two clicks: who may see what changes for everybody. */
function Remove({
  onRemove,
  isPending,
}: {
  readonly onRemove: () => void;
  readonly isPending: boolean;
}): ReactNode {
  const { t } = useMessages();
  const { policies_take_two: takesTwo } = useSession().settings;
  const [isAsked, setIsAsked] = useState(false);
  if (!isAsked)
    return (
      <Button variant="subtle" color="gray" ml="auto" onClick={() => setIsAsked(true)}>
        {t('policies.remove')}
      </Button>
    );
  return (
    <Alert color="yellow" w="100%">
      <Text mb="xs">{t(takesTwo ? 'policies.removeHintTwo' : 'policies.removeHint')}</Text>
      <Group gap="xs">
        <Button color="red.9" loading={isPending} onClick={onRemove}>
          {t(takesTwo ? 'policies.ask' : 'policies.removeNow')}
        </Button>
        <Button variant="default" onClick={() => setIsAsked(false)}>
          {t('policies.keep')}
        </Button>
      </Group>
    </Alert>
  );
}
