import { CdrError } from '@everchart/client';
import { Button, FileButton, Group, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type DragEvent, type ReactNode } from 'react';
import { useMessages } from '../../messages/messages.js';
import { useApi, useOffice } from '../../session/session.js';
import { templateView, useGo } from '../../shell/address.js';
import { Failure } from '../../widgets/states.js';

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
  const api = useApi();
  const isAdmin = useOffice()?.isAdmin === true;
  const settled = useShown();
  const id = idOf(opt);
  const replace = useMutation({
    mutationFn: async () => {
      if (id !== null) await api.replaceTemplate(id, opt);
      return id;
    },
    onSuccess: settled,
  });
  if (id === null) return null;
  return (
    <Group mt="xs" gap="xs">
      {isAdmin ? (
        <>
          <Button size="xs" variant="default" loading={replace.isPending} onClick={() => replace.mutate()}>
            {t('templates.replace')}
          </Button>
          <Text size="sm" c="dimmed">
            {t('templates.replaceHint')}
          </Text>
        </>
      ) : (
        <Text size="sm">{t('templates.replaceWho')}</Text>
      )}
      {replace.error !== null && <Failure error={replace.error} />}
    </Group>
  );
}

function idOf(opt: string): string | null {
  return /<template_id>\s*<value>([^<]+)<\/value>/.exec(opt)?.[1]?.trim() ?? null;
}

/** Shows the template that was stored. */
function useShown(): (templateId: string | null) => Promise<void> {
  const queries = useQueryClient();
  const go = useGo();
  return async (templateId) => {
    await queries.invalidateQueries();
    if (templateId !== null) go(templateView(templateId));
  };
}
