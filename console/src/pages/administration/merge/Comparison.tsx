import { Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { at, textAt } from '../../../api/json.js';
import type { JsonObject } from '../../../api/types.js';
import { useMessages } from '../../../messages/messages.js';
import { changesOf } from '../../../record/comparison/changes.js';
import { useApi } from '../../../session/session.js';
import { compositionsOf } from '../../patient/patient-data.js';
import { PairTimeline } from './PairTimeline.js';
import { PatientSummary } from './PatientSummary.js';

interface Pair {
  readonly source: string;
  readonly target: string;
}

/** Two patients side by side: what their status says differently first, then both timelines on one axis, then each. */
export function Comparison({ source, target }: Pair): ReactNode {
  const { t } = useMessages();
  const [left, right] = [useRecord(source), useRecord(target)];
  return (
    <>
      {left.status !== undefined && right.status !== undefined && (
        <StatusDifferences source={left.status} target={right.status} />
      )}
      {left.compositions !== undefined && right.compositions !== undefined && (
        <PairTimeline
          rows={[
            { label: t('merge.source'), compositions: left.compositions },
            { label: t('merge.target'), compositions: right.compositions },
          ]}
        />
      )}
      <div className="pair">
        <PatientSummary ehrId={source} />
        <PatientSummary ehrId={target} />
      </div>
    </>
  );
}

/** The same questions as `PatientSummary` asks, so that each is asked once. */
function useRecord(ehrId: string) {
  const api = useApi();
  const { data: status } = useQuery({ queryKey: ['ehr-status', ehrId], queryFn: () => api.ehrStatus(ehrId) });
  const { data: compositions } = useQuery({
    queryKey: ['compositions', ehrId],
    queryFn: () => compositionsOf(api, ehrId),
  });
  return { status, compositions };
}

/** Attributes that the two EHR_STATUS say differently. */
function StatusDifferences({
  source,
  target,
}: {
  readonly source: JsonObject;
  readonly target: JsonObject;
}): ReactNode {
  const reader = useMessages();
  const { t } = reader;
  const yesNo = (value: unknown): string => t(value === false ? 'form.no' : 'form.yes');
  const facts = [
    { label: t('status.subject'), of: (one: JsonObject) => subjectAt(one, 'id', 'value') },
    { label: t('status.namespace'), of: (one: JsonObject) => subjectAt(one, 'namespace') },
    { label: t('status.queryable'), of: (one: JsonObject) => yesNo(one.is_queryable) },
    { label: t('status.modifiable'), of: (one: JsonObject) => yesNo(one.is_modifiable) },
  ];
  const details = (one: JsonObject): JsonObject => ({ other_details: at(one, 'other_details') });
  const different = [
    ...facts
      .map(({ label, of }) => ({ label, left: of(source), right: of(target) }))
      .filter(({ left, right }) => left !== right),
    ...changesOf(details(source), details(target), reader).map(({ label, before, after }) => ({
      label: label === '' ? t('merge.otherDetails') : label,
      left: before ?? '–',
      right: after ?? '–',
    })),
  ];
  if (different.length === 0) return <Text mb="sm">{t('merge.noDifferences')}</Text>;
  return (
    <Table className="grid differences-table" mb="md">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{t('merge.differences')}</Table.Th>
          <Table.Th>{t('merge.source')}</Table.Th>
          <Table.Th>{t('merge.target')}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {different.map(({ label, left, right }) => (
          <Table.Tr key={`${label} ${left} ${right}`}>
            <Table.Td>{label}</Table.Td>
            <Table.Td>{left}</Table.Td>
            <Table.Td>{right}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

function subjectAt(status: JsonObject, ...names: readonly string[]): string {
  return textAt(status, 'subject', 'external_ref', ...names) || '–';
}
