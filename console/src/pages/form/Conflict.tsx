import type { WebTemplate } from '@everchart/client';
import { Button, SegmentedControl, Stack, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState, type ReactNode } from 'react';
import { textAt } from '../../api/json.js';
import { placesOf } from '../../form/form-tree.js';
import { changesOf, fieldText, mergedValues, type FieldChange, type Side } from '../../form/three-way.js';
import { placesAbove, type FlatValues } from '../../form/values.js';
import { useMessages } from '../../messages/messages.js';
import { useApi } from '../../session/session.js';
import { Section } from '../../widgets/Page.js';
import { Failure, Loading } from '../../widgets/states.js';
import { Time } from '../../widgets/Time.js';
import { useForm } from './form-state.js';
import { useLabels } from './labels.js';

/** A version of a document as FLAT. */
export interface FlatVersion {
  readonly uid: string;
  readonly values: FlatValues;
}

/**
 * Somebody else saved a newer version while this form was open: what he changed, beside what is typed, with a choice where
 * both changed the same field. `goOn` is given that version and what the form says on top of it.
 */
export function Conflict({
  ehrId,
  begun,
  newerUid,
  goOn,
}: {
  readonly ehrId: string;
  readonly begun: FlatVersion;
  readonly newerUid: string;
  readonly goOn: (newer: FlatVersion, merged: FlatValues) => void;
}): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  const { data, error, refetch } = useQuery({
    queryKey: ['newer-version', ehrId, newerUid],
    queryFn: async () => {
      const [version, flat] = await Promise.all([
        api.version(ehrId, newerUid),
        api.compositionFlat(ehrId, newerUid),
      ]);
      return {
        who: textAt(version, 'commit_audit', 'committer', 'name'),
        when: textAt(version, 'commit_audit', 'time_committed', 'value'),
        values: flat as FlatValues | null,
      };
    },
  });
  if (error !== null) return <Failure error={error} retry={() => void refetch()} />;
  if (data === undefined) return <Loading rows={3} />;
  const { who, when, values } = data;
  return (
    <div role="alert">
      <Section title={t('conflict.title')}>
        <Stack gap="sm" align="flex-start">
          <Text>
            {who === '' ? t('conflict.somebody') : who} · <Time value={when} isAgo />
          </Text>
          {values === null ? (
            <Text>{t('conflict.deleted')}</Text>
          ) : (
            <Changes begun={begun} newer={{ uid: newerUid, values }} goOn={goOn} />
          )}
        </Stack>
      </Section>
    </div>
  );
}

function Changes({
  begun,
  newer,
  goOn,
}: {
  readonly begun: FlatVersion;
  readonly newer: FlatVersion;
  readonly goOn: (newer: FlatVersion, merged: FlatValues) => void;
}): ReactNode {
  const { t } = useMessages();
  const { state, template } = useForm();
  const [mine] = useState(state.values);
  const [choices, setChoices] = useState<ReadonlyMap<string, Side>>(new Map());
  const changes = useMemo(
    () => changesOf({ template, before: begun.values, mine, theirs: newer.values }),
    [template, begun, mine, newer],
  );
  const isDecided = changes.every(({ path, isContested }) => !isContested || choices.has(path));
  return (
    <>
      <Text>{t(changes.length === 0 ? 'conflict.nothing' : 'conflict.hint')}</Text>
      {changes.length > 0 && (
        <Table.ScrollContainer minWidth={480}>
          <Table className="grid">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{t('conflict.field')}</Table.Th>
                <Table.Th>{t('conflict.before')}</Table.Th>
                <Table.Th>{t('conflict.theirs')}</Table.Th>
                <Table.Th>{t('conflict.mine')}</Table.Th>
                <Table.Th>{t('conflict.goesOn')}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {changes.map((change) => (
                <Changed
                  key={change.path}
                  change={change}
                  template={template}
                  chosen={choices.get(change.path)}
                  choose={(side) => setChoices(new Map(choices).set(change.path, side))}
                />
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
      <Button
        size="xs"
        disabled={!isDecided}
        onClick={() => goOn(newer, mergedValues(state.values, changes, choices))}
      >
        {t('conflict.goOn')}
      </Button>
    </>
  );
}

function Changed({
  change,
  template,
  chosen,
  choose,
}: {
  readonly change: FieldChange;
  readonly template: WebTemplate;
  readonly chosen: Side | undefined;
  readonly choose: (side: Side) => void;
}): ReactNode {
  const { t } = useMessages();
  const { labelOf } = useLabels();
  const { path, before, theirs, mine, isContested } = change;
  const places = placesOf(template, { ...before, ...theirs, ...mine });
  const names = placesAbove(path).flatMap((place) => {
    const node = places.get(place);
    return node === undefined || node === template.tree ? [] : [labelOf(node)];
  });
  const label = names.length === 0 ? path : names.join(' · ');
  return (
    <Table.Tr>
      <Table.Td>{label}</Table.Td>
      <Table.Td>{fieldText(before) || '–'}</Table.Td>
      <Table.Td>{fieldText(theirs) || '–'}</Table.Td>
      <Table.Td>{fieldText(mine) || '–'}</Table.Td>
      <Table.Td>
        {isContested ? (
          <SegmentedControl
            size="xs"
            aria-label={label}
            // Neither is chosen for anybody.
            value={chosen ?? ''}
            onChange={(side) => choose(side as Side)}
            data={[
              { value: 'theirs', label: t('conflict.theirs') },
              { value: 'mine', label: t('conflict.mine') },
            ]}
          />
        ) : (
          t('conflict.theirs')
        )}
      </Table.Td>
    </Table.Tr>
  );
}
