import { Alert, Button, Checkbox, Group, Text, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useMessages } from '../../messages/messages.js';
import { useApi } from '../../session/session.js';
import { Section } from '../../widgets/Page.js';
import { Failure } from '../../widgets/states.js';
import { Motive, NO_MOTIVE, sentMotive } from './Motive.js';
import { PatientPicker } from './PatientPicker.js';
import { PatientSummary } from './merge/PatientSummary.js';

/** Erases a patient: shows what would go, and takes the beginning of the id as the word of who knows what he does. */
export function EraseTab(): ReactNode {
  const { t } = useMessages();
  const [ehrId, setEhrId] = useState('');
  return (
    <div className="story">
      <PatientPicker
        label={t('erase.patient')}
        hint={t('erase.hint')}
        value={ehrId}
        onChange={(next) => setEhrId(next ?? '')}
      />
      {ehrId !== '' && <Plan key={ehrId} ehrId={ehrId} />}
    </div>
  );
}

function Plan({ ehrId }: { readonly ehrId: string }): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  const queries = useQueryClient();
  const [typed, setTyped] = useState('');
  const [isCascade, setIsCascade] = useState(false);
  const [motive, setMotive] = useState(NO_MOTIVE);
  const { data: merged, error: unknown } = useQuery({
    queryKey: ['merges', 'into', ehrId],
    queryFn: () => api.mergesInto(ehrId),
  });
  // Until it is known what else would go, nothing does.
  const isAgreed = merged !== undefined && (merged.length === 0 || isCascade);
  const word = ehrId.slice(0, 8);
  const erase = useMutation({
    mutationFn: () => api.eraseEhr(ehrId, { cascade: isCascade, ...sentMotive(motive) }),
    // What was shown stays to be read: it is gone on the server.
    onSuccess: () => queries.invalidateQueries({ refetchType: 'none' }),
  });
  if (erase.isSuccess)
    return (
      <Text role="status">{t(erase.data === undefined ? 'erase.done' : 'erase.waits', { id: ehrId })}</Text>
    );
  return (
    <Section title={t('erase.plan')}>
      <PatientSummary ehrId={ehrId} />
      <Alert color="red" variant="light" my="md">
        {t('erase.warning')}
      </Alert>
      {merged !== undefined && merged.length > 0 && (
        <Checkbox
          mb="md"
          label={t('erase.cascade', { count: merged.length })}
          description={merged.map(({ source_ehr: source }) => source).join(', ')}
          checked={isCascade}
          onChange={(event) => setIsCascade(event.currentTarget.checked)}
        />
      )}
      {unknown !== null && <Failure error={unknown} />}
      {erase.error !== null && <Failure error={erase.error} />}
      <Motive value={motive} onChange={setMotive} />
      <Text size="xs" c="dimmed" mb="md">
        {t('erase.why')}
      </Text>
      <Group align="flex-end">
        <TextInput
          label={t('erase.type', { word })}
          classNames={{ input: 'mono' }}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value.trim())}
        />
        <Button
          color="red.9"
          disabled={typed !== word || !isAgreed || motive.reason.trim() === ''}
          loading={erase.isPending}
          onClick={() => erase.mutate()}
        >
          {t('erase.go')}
        </Button>
      </Group>
    </Section>
  );
}
