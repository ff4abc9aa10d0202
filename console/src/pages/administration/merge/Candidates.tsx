import { Button, Group, Text } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { CandidateReason, MergeCandidate } from '../../../api/administration.js';
import { useMessages } from '../../../messages/messages.js';
import { useApi } from '../../../session/session.js';
import { patientView } from '../../../shell/address.js';
import { numberText } from '../../../widgets/number-text.js';
import { Empty, Failure, Loading } from '../../../widgets/states.js';
import { ViewLink } from '../../../widgets/ViewLink.js';
import { SayDistinct, TwoPersons } from './TwoPersons.js';
import { patientGists, type PatientGist } from '../../patients/patient-queries.js';

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
  // The likeliest first, of those that were asked for.
  const pairs = pages
    .flatMap(({ candidates }) => candidates)
    .toSorted((left, right) => right.score - left.score);
  const ehrIds = [...new Set(pairs.flatMap((pair) => [pair.ehr_id, pair.other_ehr_id]))].sort();
  const { data: gists } = useQuery({
    queryKey: ['candidate-gists', ehrIds],
    queryFn: () => patientGists(api, ehrIds),
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
          <Pair key={`${pair.ehr_id} ${pair.other_ehr_id}`} {...{ pair, onChoose, gists }} />
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
      <TwoPersons />
    </section>
  );
}

function Pair({
  pair,
  gists,
  onChoose,
}: {
  readonly pair: MergeCandidate;
  readonly gists: ReadonlyMap<string, PatientGist> | undefined;
  readonly onChoose: (pair: ChosenPair) => void;
}): ReactNode {
  const { t, language } = useMessages();
  const nameOf = (ehrId: string): string => gists?.get(ehrId)?.subject ?? ehrId.slice(0, 8);
  const [left, right] = [nameOf(pair.ehr_id), nameOf(pair.other_ehr_id)];
  const sizeOf = (ehrId: string): string => numberText(gists?.get(ehrId)?.compositions ?? 0, language);
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
        {gists !== undefined && (
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
      <Group gap="xs" className="line-choice">
        <Button
          size="xs"
          variant="default"
          aria-label={t('candidates.compareThese', { left, right })}
          onClick={() => onChoose(proposed(pair, gists))}
        >
          {t('candidates.compare')}
        </Button>
        <SayDistinct pair={[pair.ehr_id, pair.other_ehr_id]} names={[left, right]} />
      </Group>
    </li>
  );
}

/** The record that holds less goes into the other. */
function proposed(pair: MergeCandidate, gists: ReadonlyMap<string, PatientGist> | undefined): ChosenPair {
  const size = (ehrId: string): number => gists?.get(ehrId)?.compositions ?? 0;
  const [left, right] = [pair.ehr_id, pair.other_ehr_id];
  const isLeftSmaller = size(left) < size(right);
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
