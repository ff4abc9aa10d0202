import './record.css';
import { Checkbox, Group, Select, Text } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState, type ReactNode } from 'react';
import { useMessages } from '../../messages/messages.js';
import { useApi, useSession } from '../../session/session.js';
import { epochOf } from '../../record/values/instant.js';
import { compositionView, useAddress, useGo } from '../../shell/address.js';
import { numberText } from '../../widgets/number-text.js';
import { Section } from '../../widgets/Page.js';
import { Empty, Failure, Loading } from '../../widgets/states.js';
import { Drafts } from '../form/Drafts.js';
import { CompositionList } from './CompositionList.js';
import { colorsOf, useLanes, type Lane } from './lanes.js';
import {
  archetypesOf,
  compositionsOf,
  deletedOf,
  MOST_COMPOSITIONS,
  MOST_POINTS,
  trendsOf,
  versionsOf,
  type HeldArchetype,
  type RecordedComposition,
} from './patient-data.js';
import { Timeline } from './Timeline.js';
import { Trends } from './Trends.js';

/** What happened, what changed, what matters now. */
export function RecordTab({ ehrId }: { readonly ehrId: string }): ReactNode {
  const api = useApi();
  const { data, error, refetch } = useQuery({
    queryKey: ['compositions', ehrId],
    queryFn: () => compositionsOf(api, ehrId),
  });
  if (error !== null) return <Failure error={error} retry={() => void refetch()} />;
  if (data === undefined) return <Loading rows={8} height={28} />;
  return (
    <>
      <Drafts ehrId={ehrId} />
      {data.length === 0 ? <Nothing /> : <Record ehrId={ehrId} compositions={data} />}
      <DeletedDocuments ehrId={ehrId} now={data} />
    </>
  );
}

function Record({
  ehrId,
  compositions,
}: {
  readonly ehrId: string;
  readonly compositions: readonly RecordedComposition[];
}): ReactNode {
  const { t } = useMessages();
  const go = useGo();
  const api = useApi();
  const [range, setRange] = useState<readonly [number, number]>([-Infinity, Infinity]);
  const choose = useDebouncedCallback((from: number, to: number) => setRange([from, to]), 80);
  const { address, change } = useAddress();
  const isDraftsOnly = address.drafts === 'only';
  const [archetype, setArchetype] = useState<string | null>(null);
  const { data: archetypes = [] } = useQuery({
    queryKey: ['archetypes', ehrId],
    queryFn: () => archetypesOf(api, ehrId),
  });
  const lanes = useLanes(compositions);
  const drafts = compositions.filter(({ state }) => state === 'draft').length;
  const holding = archetypes.find((one) => one.archetype === archetype)?.uids;
  const drawn = useMemo(
    () =>
      compositions.filter(
        ({ uid, state }) => (holding?.has(uid) ?? true) && (!isDraftsOnly || state === 'draft'),
      ),
    [compositions, holding, isDraftsOnly],
  );
  const shown = drawn.filter(({ time }) => {
    const at = epochOf(time);
    return Number.isNaN(at) || (at >= range[0] && at <= range[1]);
  });
  const open = (uid: string): void => go(compositionView(ehrId, uid));
  return (
    <>
      <Timeline compositions={drawn} lanes={lanes} onRange={choose} onOpen={open} />
      <Group justify="space-between" align="flex-start" gap="xs">
        <Legend compositions={drawn} lanes={lanes} />
        <ArchetypeFilter archetypes={archetypes} chosen={archetype} choose={setArchetype} />
      </Group>
      {compositions.length >= MOST_COMPOSITIONS && (
        <Text c="dimmed">{t('patient.tooMany', { count: MOST_COMPOSITIONS })}</Text>
      )}
      <div className="split">
        <Section title={t('patient.trends')}>
          <TrendPanel ehrId={ehrId} onOpen={open} />
          {drafts > 0 && (
            <Text size="xs" c="dimmed" mt="xs">
              {t('patient.trendsWithoutDrafts')}
            </Text>
          )}
        </Section>
        <Section
          title={t('patient.compositionsShown', { count: shown.length, all: compositions.length })}
          aside={
            (drafts > 0 || isDraftsOnly) && (
              <Checkbox
                size="xs"
                label={t('patient.drafts', { count: drafts })}
                checked={isDraftsOnly}
                onChange={(event) => change({ drafts: event.currentTarget.checked ? 'only' : undefined })}
              />
            )
          }
        >
          <CompositionList ehrId={ehrId} compositions={shown} colorOf={colorsOf(lanes)} />
        </Section>
      </div>
    </>
  );
}

/** Chooses what a document has to hold to be shown, where there is a choice. */
function ArchetypeFilter({
  archetypes,
  chosen,
  choose,
}: {
  readonly archetypes: readonly HeldArchetype[];
  readonly chosen: string | null;
  readonly choose: (archetype: string | null) => void;
}): ReactNode {
  const { t } = useMessages();
  if (archetypes.length < 2) return null;
  return (
    <Select
      size="xs"
      w={260}
      searchable
      clearable
      clearButtonProps={{ 'aria-label': t('patient.allArchetypes') }}
      aria-label={t('patient.archetype')}
      placeholder={t('patient.archetype')}
      nothingFoundMessage={t('palette.nothing')}
      data={archetypes.map((one) => ({
        value: one.archetype,
        label: `${one.name} · ${one.archetype.replace(/^openEHR-EHR-/, '')}`,
      }))}
      value={chosen}
      onChange={choose}
    />
  );
}

/** What was deleted, with the way to where it is restored; nothing where nothing was. */
function DeletedDocuments({
  ehrId,
  now,
}: {
  readonly ehrId: string;
  readonly now: readonly RecordedComposition[];
}): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  const { data = [] } = useQuery({
    queryKey: ['versions', ehrId],
    queryFn: () => versionsOf(api, ehrId),
    // Of a record that is not read whole, what is missing is not what was deleted.
    enabled: now.length < MOST_COMPOSITIONS,
  });
  const deleted = useMemo(() => deletedOf(data, now), [data, now]);
  const lanes = useLanes(now);
  if (deleted.length === 0) return null;
  return (
    <details className="more">
      <summary>{t('patient.deleted', { count: deleted.length })}</summary>
      <CompositionList ehrId={ehrId} compositions={deleted} colorOf={colorsOf(lanes)} />
    </details>
  );
}

function Legend({
  compositions,
  lanes,
}: {
  readonly compositions: readonly RecordedComposition[];
  readonly lanes: readonly Lane[];
}): ReactNode {
  const counts = new Map<string, number>();
  for (const { template } of compositions) counts.set(template, (counts.get(template) ?? 0) + 1);
  return (
    <ul className="legend">
      {lanes
        .filter(({ template }) => counts.has(template))
        .map(({ template, name, color }) => (
          <li key={template}>
            <span className="dot" style={{ background: color }} />
            <span title={template}>{name}</span> <b className="number">{counts.get(template)}</b>
          </li>
        ))}
    </ul>
  );
}

function TrendPanel({
  ehrId,
  onOpen,
}: {
  readonly ehrId: string;
  readonly onOpen: (uid: string) => void;
}): ReactNode {
  const { t, language } = useMessages();
  const api = useApi();
  const { data, error, refetch } = useQuery({
    queryKey: ['trends', ehrId],
    queryFn: () => trendsOf(api, ehrId),
  });
  if (error !== null) return <Failure error={error} retry={() => void refetch()} />;
  if (data === undefined) return <Loading rows={4} height={72} />;
  const count = data.reduce((sum, { points }) => sum + points.length, 0);
  return (
    <>
      {count >= MOST_POINTS && (
        <Text size="xs" className="flag" mb="xs">
          {t('patient.valuesCut', { count: numberText(MOST_POINTS, language) })}
        </Text>
      )}
      <Trends trends={data} onOpen={onOpen} />
    </>
  );
}

/** Where policies hold nobody is told that a record is empty: what he does not see may be there. */
function Nothing(): ReactNode {
  const { t } = useMessages();
  const { access_mode: mode } = useSession().settings;
  return mode === 'enforce' ? (
    <Empty title={t('record.nothingSeen')}>{t('record.nothingSeenHint')}</Empty>
  ) : (
    <Empty title={t('patient.empty')}>{t('patient.emptyHint')}</Empty>
  );
}
