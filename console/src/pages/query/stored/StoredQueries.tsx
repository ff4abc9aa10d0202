import { Button, Drawer, Group, Text, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { StoredQuery } from '@everchart/client';
import { useState, type ReactNode } from 'react';
import { useMessages } from '../../../messages/messages.js';
import { useApi, useOffice } from '../../../session/session.js';
import { Empty, Failure } from '../../../widgets/states.js';
import { tell } from '../../../widgets/tell.js';
import { Time } from '../../../widgets/Time.js';
import { queryFolders, type NamedQuery } from './query-folders.js';

interface Choose {
  readonly onChoose: (text: string) => void;
}

/** The stored queries by the folders of their names, with all versions; an administrator takes them away. */
export function StoredQueries({
  stored,
  onChoose,
  close,
}: Choose & { readonly stored: readonly StoredQuery[]; readonly close: () => void }): ReactNode {
  const { t } = useMessages();
  const [fits, setFits] = useState('');
  const folders = queryFolders(stored, fits);
  const choose = (text: string): void => {
    onChoose(text);
    close();
  };
  return (
    <Drawer
      opened
      onClose={close}
      position="right"
      size="md"
      title={t('stored.title')}
      closeButtonProps={{ 'aria-label': t('keys.close') }}
    >
      <TextInput
        type="search"
        data-autofocus
        aria-label={t('stored.find')}
        placeholder={t('stored.find')}
        value={fits}
        onChange={(event) => setFits(event.currentTarget.value)}
      />
      {folders.length === 0 && <Empty title={t('palette.nothing')} />}
      {folders.map(({ folder, queries }) => (
        <details key={folder} open className="query-folder">
          <summary>{folder === '' ? t('stored.noFolder') : folder}</summary>
          {queries.map((query) => (
            <Named key={query.name} query={query} onChoose={choose} />
          ))}
        </details>
      ))}
    </Drawer>
  );
}

/** One name: its newest version at hand, the others below it. */
function Named({
  query: { label, name, versions },
  onChoose,
}: Choose & { readonly query: NamedQuery }): ReactNode {
  const { t } = useMessages();
  const [isOpen, setIsOpen] = useState(false);
  const shown = isOpen ? versions : versions.slice(0, 1);
  return (
    <section aria-label={name}>
      <Group justify="space-between">
        <Text fw={600}>{label}</Text>
        {versions.length > 1 && (
          <Button
            size="compact-xs"
            variant="subtle"
            aria-expanded={isOpen}
            onClick={() => setIsOpen(!isOpen)}
          >
            {t('stored.versions', { count: versions.length })}
          </Button>
        )}
      </Group>
      <ul>
        {shown.map((version) => (
          <Version key={version.version} query={version} onChoose={onChoose} />
        ))}
      </ul>
    </section>
  );
}

function Version({ query, onChoose }: Choose & { readonly query: StoredQuery }): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  const queries = useQueryClient();
  const isAdmin = useOffice()?.isAdmin === true;
  const { name, version, q, saved } = query;
  const refresh = () => queries.invalidateQueries({ queryKey: ['stored-queries'] });
  const remove = useMutation({
    mutationFn: () => api.deleteStoredQuery(name, version),
    onSuccess: async () => {
      tell(t('stored.deleted', { name: `${name}/${version}` }), async () => {
        await api.storeQuery(name, q, version);
        await refresh();
      });
      await refresh();
    },
  });
  return (
    <li>
      <Group gap="xs" justify="space-between">
        <span>
          <span className="mono">{version}</span>{' '}
          <Text span size="xs" c="dimmed">
            <Time value={saved} isAgo />
          </Text>
        </span>
        <Group gap={4}>
          <Button size="compact-xs" variant="default" onClick={() => onChoose(q)}>
            {t('stored.open', { version })}
          </Button>
          {isAdmin && (
            <Button
              size="compact-xs"
              variant="default"
              color="red"
              aria-label={t('stored.delete', { name: `${name}/${version}` })}
              loading={remove.isPending}
              onClick={() => remove.mutate()}
            >
              {t('composition.delete')}
            </Button>
          )}
        </Group>
      </Group>
      {remove.error !== null && <Failure error={remove.error} />}
    </li>
  );
}
