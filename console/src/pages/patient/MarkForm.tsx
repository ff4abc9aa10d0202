import { Button, Group, Select, SimpleGrid, TextInput } from '@mantine/core';
import { versionedObjectUidOf, type Mark } from '@everchart/client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useMessages } from '../../messages/messages.js';
import { useApi, useMay } from '../../session/session.js';
import { Failure } from '../../widgets/states.js';
import { SuggestInput } from '../../widgets/SuggestInput.js';
import { tell } from '../../widgets/tell.js';
import { markOf, unmarked, wrongIn, type MarkScope, type MarkTexts } from './mark-words.js';
import { compositionsOf, type RecordedComposition } from './patient-data.js';
import { useMarkRights } from './use-marks.js';

const SCOPES: readonly MarkScope[] = ['whole', 'part', 'document'];
const GROUND = 1_000;

/** Sets a restriction: which, about what, for whom, and why. */
export function MarkForm({
  ehrId,
  close,
}: {
  readonly ehrId: string;
  readonly close: () => void;
}): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  const queries = useQueryClient();
  const [texts, setTexts] = useState(unmarked('patient_restriction'));
  const change = (part: Partial<MarkTexts>): void => setTexts({ ...texts, ...part });
  const wrong = wrongIn(texts);
  const set = useMutation({
    mutationFn: () => api.addMark(ehrId, markOf(texts)),
    onSuccess: async () => {
      close();
      tell(t('marks.isSet'));
      await queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey.includes(ehrId) });
    },
  });
  return (
    <form
      className="mark-form"
      aria-label={t('marks.add')}
      onSubmit={(event) => {
        event.preventDefault();
        if (wrong === null) set.mutate();
      }}
    >
      <Which ehrId={ehrId} texts={texts} change={change} />
      <TextInput
        mt="xs"
        required
        label={t('marks.ground')}
        maxLength={GROUND}
        value={texts.ground}
        onChange={(event) => change({ ground: event.currentTarget.value })}
      />
      {wrong === 'order' && <p className="flag">{t('marks.wrong.order')}</p>}
      {set.error !== null && <Failure error={set.error} />}
      <Group mt="sm" gap="xs">
        <Button type="submit" disabled={wrong !== null} loading={set.isPending}>
          {t('marks.setNow')}
        </Button>
        <Button variant="default" onClick={close}>
          {t('keys.close')}
        </Button>
      </Group>
    </form>
  );
}

interface AboutProps {
  readonly ehrId: string;
  readonly texts: MarkTexts;
  readonly change: (part: Partial<MarkTexts>) => void;
}

/** Which restriction, about what, for whom. */
function Which({ ehrId, texts, change }: AboutProps): ReactNode {
  const { t } = useMessages();
  const { isAdmin } = useMarkRights(ehrId);
  const kinds: readonly Mark['kind'][] = [
    'patient_restriction',
    'research_objection',
    ...(isAdmin ? (['restriction_of_processing'] as const) : []),
  ];
  const isOfProcessing = texts.kind === 'restriction_of_processing';
  const scopes = SCOPES.filter((scope) => scope !== 'part' || !isOfProcessing);
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm" verticalSpacing="xs">
      <Select
        label={t('marks.kind')}
        description={t(`marks.${texts.kind}.means`)}
        allowDeselect={false}
        data={kinds.map((value) => ({ value, label: t(`marks.${value}`) }))}
        value={texts.kind}
        onChange={(kind) =>
          change({ kind: kinds.find((each) => each === kind) ?? texts.kind, scope: 'whole' })
        }
      />
      <Select
        label={t('marks.scope')}
        description={t('marks.scopeHint')}
        allowDeselect={false}
        data={scopes.map((value) => ({ value, label: t(`marks.scope.${value}`) }))}
        value={texts.scope}
        onChange={(scope) => change({ scope: scopes.find((each) => each === scope) ?? 'whole' })}
      />
      <About ehrId={ehrId} texts={texts} change={change} />
      {!isOfProcessing && (
        <TextInput
          label={t('marks.organisation')}
          description={t('marks.organisationHint')}
          value={texts.organisation}
          onChange={(event) => change({ organisation: event.currentTarget.value })}
        />
      )}
    </SimpleGrid>
  );
}

/** What of the record a restriction is about. */
function About({ ehrId, texts, change }: AboutProps): ReactNode {
  const documents = useDocuments(ehrId);
  if (texts.scope === 'whole') return null;
  return texts.scope === 'document' ? (
    <OneDocument texts={texts} change={change} documents={documents} />
  ) : (
    <Part ehrId={ehrId} texts={texts} change={change} documents={documents} />
  );
}

/** Those that the user sees; he may know others. */
function useDocuments(ehrId: string): readonly RecordedComposition[] {
  const api = useApi();
  const mayRead = useMay('read');
  const { data = [] } = useQuery({
    queryKey: ['compositions', ehrId],
    queryFn: () => compositionsOf(api, ehrId),
    enabled: mayRead,
    retry: false,
  });
  return data;
}

interface PartProps extends AboutProps {
  readonly documents: readonly RecordedComposition[];
}

/** openEHR's own, which have words in the language of the reader. */
const OWN_CATEGORIES = ['event', 'persistent', 'episodic'] as const;

function isOwnCategory(value: string): value is (typeof OWN_CATEGORIES)[number] {
  return OWN_CATEGORIES.some((own) => own === value);
}

/** Those that there are; until it is known openEHR's own. */
function useCategories(ehrId: string): readonly string[] {
  const api = useApi();
  const { data = OWN_CATEGORIES } = useQuery({
    queryKey: ['mark-categories', ehrId],
    queryFn: () => api.markCategories(ehrId),
    // Each look is recorded.
    staleTime: Infinity,
    retry: false,
  });
  return data;
}

function OneDocument({ texts, change, documents }: Omit<PartProps, 'ehrId'>): ReactNode {
  const { t } = useMessages();
  return (
    <SuggestInput
      label={t('marks.document')}
      description={t('marks.documentHint')}
      suggestions={documents.map(({ uid, name, time }) => ({
        value: versionedObjectUidOf(uid),
        label: `${name} · ${time.slice(0, 10)}`,
      }))}
      value={texts.objectUid}
      onChange={(objectUid) => change({ objectUid })}
    />
  );
}

function Part({ ehrId, texts, change, documents }: PartProps): ReactNode {
  const { t } = useMessages();
  const categories = useCategories(ehrId);
  const templates = [...new Set(documents.map(({ template }) => template))];
  return (
    <>
      <SuggestInput
        label={t('marks.template')}
        suggestions={templates.map((value) => ({ value, label: value }))}
        value={texts.template}
        onChange={(template) => change({ template })}
      />
      <Select
        label={t('marks.category')}
        clearable
        data={categories.map((value) => ({
          value,
          label: isOwnCategory(value) ? t(`marks.category.${value}`) : value,
        }))}
        value={texts.category === '' ? null : texts.category}
        onChange={(category) => change({ category: category ?? '' })}
      />
      <TextInput
        label={t('marks.origin')}
        value={texts.origin}
        onChange={(event) => change({ origin: event.currentTarget.value })}
      />
      <Group grow>
        {(['from', 'to'] as const).map((name) => (
          <TextInput
            key={name}
            type="date"
            label={t(`marks.${name}`)}
            value={texts[name]}
            onChange={(event) => change({ [name]: event.currentTarget.value })}
          />
        ))}
      </Group>
    </>
  );
}
