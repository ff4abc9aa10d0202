import { Button, Text } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { Api } from '../../../api/api.js';
import type { CandidateReason, MergeCandidate } from '../../../api/administration.js';
import { useMessages } from '../../../messages/messages.js';
import { useApi } from '../../../session/session.js';
import { patientView } from '../../../shell/address.js';
import { numberText } from '../../../widgets/number-text.js';
import { Empty, Failure, Loading } from '../../../widgets/states.js';
import { ViewLink } from '../../../widgets/ViewLink.js';
import { patientActivity, subjectsOf } from '../../patients/patient-queries.js';

/** Which of two EHRs is proposed to go into which. */
interface ChosenPair {
  readonly source: string;
  readonly target: string;
}

/** EHRs that may be of one person, each pair with its reasons; with an EHR only what may be the same person as it. */
export function Candidates({
  ehrId,
  onChoose,
}: {
  /** Empty: of all. */
  readonly ehrId: string;
  readonly onChoose: (pair: ChosenPair) => void;
}): ReactNode {
  const { t, language } = useMessages();
  const api = useApi();
  const { data, error, isFetching, hasNextPage, fetchNextPage } = useInfiniteQuery({
    queryKey: ['merge-candidates', ehrId],
    queryFn: ({ pageParam: after }) => api.mergeCandidates(ehrId === '' ? { after } : { ehrId }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next,
  });
  const pages = data?.pages ?? [];
  const pairs = pages.flatMap(({ candidates }) => candidates);
  const ehrIds = [...new Set(pairs.flatMap((pair) => [pair.ehr_id, pair.other_ehr_id]))].sort();
  const { data: subjects } = useQuery({
    queryKey: ['subjects', ehrIds],
    queryFn: () => subjectsOf(api, ehrIds),
    enabled: ehrIds.length > 0,
  });
  const { data: sizes } = useQuery({
    queryKey: ['candidate-sizes', ehrIds],
    queryFn: () => compositionsIn(api, ehrIds),
    enabled: ehrIds.length > 0,
  });
  if (error !== null) return <Failure error={error} />;
  if (data === undefined) return <Loading rows={3} />;
  const examined = pages.reduce((sum, page) => sum + page.examined_ehrs, 0);
  return (
    <section className="candidates">
      <Text fw={600}>{t(ehrId === '' ? 'candidates.title' : 'candidates.of')}</Text>
      {pages[0]?.incomplete !== undefined && <Text className="flag">{t('candidates.incomplete')}</Text>}
      {pairs.length === 0 && !hasNextPage && (
        <Empty title={t('candidates.none')}>{t('candidates.noneHint')}</Empty>
      )}
      <ul className="lines">
        {pairs.map((pair) => (
          <Pair key={`${pair.ehr_id} ${pair.other_ehr_id}`} {...{ pair, onChoose, subjects, sizes }} />
        ))}
      </ul>
      {ehrId === '' && (
        <Text size="sm" c="dimmed">
          {t('candidates.examined', { count: numberText(examined, language) })}
        </Text>
      )}
      <NoEvidence values={pages.flatMap((page) => page.no_evidence.map(({ value }) => value))} />
      {hasNextPage && (
        <Button mt="xs" size="xs" variant="default" loading={isFetching} onClick={() => void fetchNextPage()}>
          {t('candidates.more')}
        </Button>
      )}
    </section>
  );
}

function Pair({
  pair,
  subjects,
  sizes,
  onChoose,
}: {
  readonly pair: MergeCandidate;
  readonly subjects: ReadonlyMap<string, string> | undefined;
  readonly sizes: ReadonlyMap<string, number> | undefined;
  readonly onChoose: (pair: ChosenPair) => void;
}): ReactNode {
  const { t, language } = useMessages();
  const nameOf = (ehrId: string): string => subjects?.get(ehrId) ?? ehrId.slice(0, 8);
  const [left, right] = [nameOf(pair.ehr_id), nameOf(pair.other_ehr_id)];
  const sizeOf = (ehrId: string): string => numberText(sizes?.get(ehrId) ?? 0, language);
  return (
    <li>
      <div>
        <ViewLink view={patientView(pair.ehr_id)}>{left}</ViewLink>
        {' ↔ '}
        <ViewLink view={patientView(pair.other_ehr_id)}>{right}</ViewLink>{' '}
        <b className="number">{Math.round(pair.score * 100)} %</b>
        {pair.reasons.map((reason) => (
          <Text key={`${reason.code} ${reason.value} ${reason.path ?? ''}`} size="sm" c="dimmed">
            <Reason reason={reason} />
          </Text>
        ))}
        {sizes !== undefined && (
          <Text size="sm" c="dimmed">
            {t('candidates.sizes', { left: sizeOf(pair.ehr_id), right: sizeOf(pair.other_ehr_id) })}
          </Text>
        )}
        {pair.against?.map(({ namespace }) => (
          <Text key={namespace} size="sm" className="flag">
            {t('candidates.against', { namespace })}
          </Text>
        ))}
        {pair.pending !== undefined && (
          <Text size="sm" className="flag">
            {t('candidates.pending')}
          </Text>
        )}
      </div>
      <Button
        size="xs"
        variant="default"
        className="line-choice"
        aria-label={t('candidates.compareThese', { left, right })}
        onClick={() => onChoose(proposed(pair, sizes))}
      >
        {t('candidates.compare')}
      </Button>
    </li>
  );
}

/** How many compositions each of these EHRs holds; those with none are missing. */
async function compositionsIn(api: Api, ehrIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const activity = await patientActivity(api, ehrIds);
  return new Map([...activity].map(([ehrId, { compositions }]) => [ehrId, compositions]));
}

/** The record that holds less goes into the other. */
function proposed(pair: MergeCandidate, sizes: ReadonlyMap<string, number> | undefined): ChosenPair {
  const [left, right] = [pair.ehr_id, pair.other_ehr_id];
  const isLeftSmaller = (sizes?.get(left) ?? 0) < (sizes?.get(right) ?? 0);
  return isLeftSmaller ? { source: left, target: right } : { source: right, target: left };
}

function Reason({ reason }: { readonly reason: CandidateReason }): ReactNode {
  const { t } = useMessages();
  const { code, value, namespaces = [], issuer = '', type = '', path = '', shared_by: shared } = reason;
  const where = { subject_id: namespaces.join(', '), identifier: `${issuer} ${type}`.trim(), path }[code];
  return (
    <>
      {t(`candidates.${code}`, { value })}
      {where !== '' && ` (${where})`}
      {shared > 2 && ` · ${t('candidates.shared', { count: shared })}`}
    </>
  );
}

function NoEvidence({ values }: { readonly values: readonly string[] }): ReactNode {
  const { t } = useMessages();
  const each = [...new Set(values)];
  if (each.length === 0) return null;
  return (
    <Text size="sm" c="dimmed">
      {t('candidates.noEvidence', { values: each.join(', ') })}
    </Text>
  );
}
