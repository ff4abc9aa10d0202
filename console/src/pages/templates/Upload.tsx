import { CdrError } from '@everchart/client';
import { Button, FileButton, Group, Text } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState, type DragEvent, type ReactNode } from 'react';
import { useMessages } from '../../messages/messages.js';
import { useApi, useOffice } from '../../session/session.js';
import { templateView, useWritten } from '../../shell/address.js';
import { Section } from '../../widgets/Page.js';
import { Failure, Loading } from '../../widgets/states.js';
import { DataComparison } from './DataComparison.js';
import { TemplateDifferences } from './TemplateDifferences.js';

/** Takes an OPT that is dropped or chosen; one of a known id replaces that, where nothing uses it and an administrator says so. */
export function Upload(): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  const [isOver, setIsOver] = useState(false);
  const settled = useShown();
  const upload = useMutation({
    mutationFn: async (file: File) => {
      const opt = await file.text();
      try {
        await api.uploadTemplate(opt);
      } catch (error) {
        throw error instanceof CdrError && error.status === 409 ? new Known(opt, error) : error;
      }
      return idOf(opt);
    },
    onSuccess: settled,
  });
  const drop = (event: DragEvent): void => {
    event.preventDefault();
    setIsOver(false);
    const [file] = event.dataTransfer.files;
    if (file !== undefined) upload.mutate(file);
  };
  const { error } = upload;
  return (
    <div
      className="drop"
      data-over={isOver}
      onDragOver={(event) => {
        event.preventDefault();
        setIsOver(true);
      }}
      onDragLeave={() => setIsOver(false)}
      onDrop={drop}
    >
      <Text component="div">
        {t('templates.drop')}{' '}
        <FileButton accept=".opt,.xml" onChange={(file) => file && upload.mutate(file)}>
          {(props) => (
            <Button {...props} size="xs" variant="default" loading={upload.isPending}>
              {t('steps.choose')}
            </Button>
          )}
        </FileButton>
      </Text>
      {error !== null && <Failure error={error instanceof Known ? error.refusal : error} />}
      {error instanceof Known && <Replace opt={error.opt} />}
    </div>
  );
}

/** Another template has the id of this one. */
class Known extends Error {
  readonly opt: string;
  readonly refusal: CdrError;

  constructor(opt: string, refusal: CdrError) {
    super(refusal.message);
    this.opt = opt;
    this.refusal = refusal;
  }
}

function Replace({ opt }: { readonly opt: string }): ReactNode {
  const { t } = useMessages();
  const isAdmin = useOffice()?.isAdmin === true;
  const id = idOf(opt);
  if (id === null) return null;
  if (isAdmin) return <Replacement key={opt} id={id} opt={opt} />;
  return (
    <Text size="sm" mt="xs">
      {t('templates.replaceWho')}
    </Text>
  );
}

/** What would be another template, before it is one. */
function Replacement({ id, opt }: { readonly id: string; readonly opt: string }): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  const settled = useShown();
  const { data, error } = useQuery({
    queryKey: ['template-replacement', id, opt],
    queryFn: async () => ({
      before: await api.webTemplate(id),
      difference: await api.compareTemplate(id, opt),
    }),
    staleTime: 0,
    gcTime: 0,
  });
  const replace = useMutation({
    mutationFn: async () => {
      await api.replaceTemplate(id, opt);
      return id;
    },
    onSuccess: settled,
  });
  if (error !== null) return <Failure error={error} />;
  if (data === undefined) return <Loading rows={3} />;
  return (
    <Section title={t('templates.wouldChange')}>
      <TemplateDifferences {...data} />
      <DataComparison templateId={id} after={opt} />
      <Group mt="xs" gap="xs">
        <Button size="xs" variant="default" loading={replace.isPending} onClick={() => replace.mutate()}>
          {t('templates.replace')}
        </Button>
        <Text size="sm" c="dimmed">
          {t('templates.replaceHint')}
        </Text>
      </Group>
      {replace.error !== null && <Failure error={replace.error} />}
    </Section>
  );
}

function idOf(opt: string): string | null {
  return /<template_id>\s*<value>([^<]+)<\/value>/.exec(opt)?.[1]?.trim() ?? null;
}

/** Shows the template that was stored. */
function useShown(): (templateId: string | null) => Promise<void> {
  const written = useWritten();
  return (templateId) => written(templateId === null ? undefined : templateView(templateId));
}
