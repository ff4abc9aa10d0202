import { Button, FileButton, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { Api } from '../../api/api.js';
import type { Overview } from '@everchart/client';
import { useMessages } from '../../messages/messages.js';
import { useApi } from '../../session/session.js';
import { compositionView, useGoOn } from '../../shell/address.js';
import { Section } from '../../widgets/Page.js';
import { Failure } from '../../widgets/states.js';

/** An empty store: template, patient, composition, each with its button. */
export function FirstSteps({ counts }: Pick<Overview, 'counts'>): ReactNode {
  const { t } = useMessages();
  const upload = useStep((api, file: File) => file.text().then((opt) => api.uploadTemplate(opt)));
  const create = useStep((api) => api.createEhr({ namespace: 'patients', id: 'first' }));
  const commit = useCommit();
  const error = upload.error ?? create.error ?? commit.error;
  return (
    <Section title={t('steps.title')}>
      <ol className="steps">
        <Step isDone={counts.templates > 0} title={t('steps.template')} hint={t('steps.templateHint')}>
          <FileButton accept=".opt,.xml" onChange={(file) => file && upload.mutate(file)}>
            {(props) => (
              <Button {...props} variant="default" loading={upload.isPending}>
                {t('steps.choose')}
              </Button>
            )}
          </FileButton>
        </Step>
        <Step isDone={counts.ehrs !== 0} title={t('steps.patient')} hint={t('steps.patientHint')}>
          <Button
            variant="default"
            loading={create.isPending}
            onClick={() => {
              create.mutate(undefined);
            }}
          >
            {t('steps.create')}
          </Button>
        </Step>
        <Step isDone={false} title={t('steps.commit')} hint={t('steps.commitHint')}>
          <Button
            variant="default"
            disabled={counts.templates === 0 || counts.ehrs === 0}
            loading={commit.isPending}
            onClick={() => {
              commit.mutate(undefined);
            }}
          >
            {t('steps.go')}
          </Button>
        </Step>
      </ol>
      {error !== null && <Failure error={error} />}
    </Section>
  );
}

function Step({
  isDone,
  title,
  hint,
  children,
}: {
  readonly isDone: boolean;
  readonly title: string;
  readonly hint: string;
  readonly children: ReactNode;
}): ReactNode {
  const { t } = useMessages();
  return (
    <li data-done={isDone}>
      <div>
        <Text fw={600}>
          {title} {isDone && <span className="well">{t('steps.done')}</span>}
        </Text>
        <Text c="dimmed">{hint}</Text>
      </div>
      {!isDone && children}
    </li>
  );
}

function useStep<Input, Result>(act: (api: Api, input: Input) => Promise<Result>) {
  const api = useApi();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (input: Input) => act(api, input),
    onSuccess: () => queries.invalidateQueries(),
  });
}

/** Commits the example of the first template to the first EHR, and shows it. */
function useCommit() {
  const goOn = useGoOn();
  return useStep(async (api) => {
    const [first] = await api.templates();
    const q = 'SELECT e/ehr_id/value AS ehr FROM EHR e';
    const [found] = await api.rows<{ ehr: string }>(q, { fetch: 1 });
    const template = first?.template_id ?? '';
    const ehrId = found?.ehr ?? '';
    const { uid } = await api.createComposition(ehrId, await api.exampleFlat(template), { template });
    await goOn(compositionView(ehrId, uid));
  });
}
