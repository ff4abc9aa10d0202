import { Button, CopyButton, Popover, Select, Stack, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { serverRoot } from '../../api/connection.js';
import type { QueryRequest } from '../../api/types.js';
import { useMessages } from '../../messages/messages.js';
import { useApi } from '../../session/session.js';
import { Failure } from '../../widgets/states.js';
import { asCurl, asTypeScript } from './parameters.js';

/** What is done with the query in the editor. */
export function QueryToolbar({
  text,
  request,
  onChoose,
  onFormat,
  onRun,
  onExplain,
  isRunning,
  asOf,
  onAsOf,
}: {
  readonly text: string;
  readonly request: QueryRequest;
  readonly onChoose: (text: string) => void;
  readonly onFormat: () => void;
  readonly onRun: () => void;
  readonly onExplain: () => void;
  readonly isRunning: boolean;
  readonly asOf: string;
  readonly onAsOf: (time: string) => void;
}): ReactNode {
  const { t } = useMessages();
  return (
    <div className="toolbar">
      <SavedQueries onChoose={onChoose} />
      <TextInput
        type="datetime-local"
        label={t('query.asOf')}
        size="xs"
        value={asOf}
        onChange={(event) => onAsOf(event.currentTarget.value)}
      />
      <div className="push" />
      <Button onClick={onRun} loading={isRunning} title="Ctrl ↵">
        {t('query.run')}
      </Button>
      <Button variant="default" onClick={onFormat} title="Shift Alt F">
        {t('query.format')}
      </Button>
      <Button variant="default" onClick={onExplain} disabled={isRunning}>
        {t('query.explain')}
      </Button>
      <SaveQuery text={text} />
      {[
        { name: 'curl', text: asCurl(serverRoot(), request) },
        { name: 'TypeScript', text: asTypeScript(serverRoot(), request) },
      ].map(({ name, text: code }) => (
        <CopyButton key={name} value={code}>
          {({ copied, copy }) => (
            <Button variant="default" onClick={copy}>
              {copied ? t('id.copied') : name}
            </Button>
          )}
        </CopyButton>
      ))}
    </div>
  );
}

function SavedQueries({ onChoose }: { readonly onChoose: (text: string) => void }): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  const { data = [] } = useQuery({ queryKey: ['stored-queries'], queryFn: api.storedQueries });
  return (
    <Select
      size="xs"
      label={t('query.saved')}
      placeholder={t(data.length === 0 ? 'query.noneSaved' : 'query.choose')}
      disabled={data.length === 0}
      searchable
      data={data.map(({ name, version }) => `${name}/${version}`)}
      onChange={(value) => {
        const chosen = data.find(({ name, version }) => `${name}/${version}` === value);
        if (chosen !== undefined) onChoose(chosen.q);
      }}
    />
  );
}

function SaveQuery({ text }: { readonly text: string }): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  const queries = useQueryClient();
  const [isOpen, setIsOpen] = useState(false);
  const [name, setName] = useState('');
  const save = useMutation({
    mutationFn: () => api.storeQuery(name, text),
    onSuccess: async () => {
      setIsOpen(false);
      await queries.invalidateQueries({ queryKey: ['stored-queries'] });
    },
  });
  return (
    <Popover opened={isOpen} onChange={setIsOpen} width={320} position="bottom-end" trapFocus>
      <Popover.Target>
        <Button variant="default" onClick={() => setIsOpen((before) => !before)}>
          {t('query.save')}
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <Stack gap="sm">
          <TextInput
            label={t('query.name')}
            description={t('query.nameHint')}
            placeholder="org.example::name"
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          {save.error !== null && <Failure error={save.error} />}
          <Button disabled={name === ''} loading={save.isPending} onClick={() => save.mutate()}>
            {t('query.save')}
          </Button>
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}
