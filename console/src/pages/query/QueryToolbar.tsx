import { Button, Menu, Popover, Select, Stack, TextInput } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { serverRoot } from '../../api/connection.js';
import type { QueryRequest } from '../../api/types.js';
import { useMessages } from '../../messages/messages.js';
import { useApi } from '../../session/session.js';
import { Failure } from '../../widgets/states.js';
import { AsOf } from './AsOf.js';
import { PinQuery } from '../dashboards/PinQuery.js';
import { tell } from '../../widgets/tell.js';
import { queryFolders } from './stored/query-folders.js';
import { StoredQueries } from './stored/StoredQueries.js';
import { CompareQueries } from './CompareQueries.js';
import { asCurl, asTypeScript } from './parameters.js';
import type { PastQuery } from './query-history.js';
import { QueryHistory } from './QueryHistory.js';

/** What is done with the query in the editor. */
export function QueryToolbar({
  text,
  request,
  onChoose,
  onFormat,
  onRun,
  onExplain,
  onCancel,
  isBuilding,
  onBuild,
  onPick,
  isRunning,
  asOf,
  onAsOf,
  history,
  values,
}: {
  readonly text: string;
  readonly request: QueryRequest;
  readonly onChoose: (text: string) => void;
  readonly onFormat: () => void;
  readonly onRun: () => void;
  readonly onExplain: () => void;
  /** Ends what is running. */
  readonly onCancel: () => void;
  readonly isBuilding: boolean;
  /** Shows the query as lists, or does so no more. */
  readonly onBuild: () => void;
  /** Opens or closes the nodes of templates. */
  readonly onPick: () => void;
  readonly isRunning: boolean;
  readonly asOf: string;
  readonly onAsOf: (time: string, isChosen: boolean) => void;
  readonly history: readonly PastQuery[];
  /** What is typed for the parameters. */
  readonly values: Readonly<Record<string, string>>;
}): ReactNode {
  const { t } = useMessages();
  return (
    <div className="toolbar">
      <SavedQueries text={text} onChoose={onChoose} />
      <QueryHistory history={history} onChoose={onChoose} />
      <AsOf value={asOf} onChange={onAsOf} />
      <div className="push" />
      <Button onClick={onRun} loading={isRunning} title="Ctrl ↵">
        {t('query.run')}
      </Button>
      {isRunning && (
        <Button variant="default" onClick={onCancel}>
          {t('query.cancel')}
        </Button>
      )}
      <Button variant="default" onClick={onFormat} title="Shift Alt F">
        {t('query.format')}
      </Button>
      <Button variant="default" onClick={onExplain} disabled={isRunning}>
        {t('query.explain')}
      </Button>
      <Button variant={isBuilding ? 'light' : 'default'} aria-pressed={isBuilding} onClick={onBuild}>
        {t('builder.open')}
      </Button>
      <Button variant="default" onClick={onPick}>
        {t('picker.open')}
      </Button>
      <SaveQuery text={text} />
      <PinQuery text={text} values={values} />
      <CopyAs request={request} />
    </div>
  );
}

/** The query as a program sends it, to take along. */
function CopyAs({ request }: { readonly request: QueryRequest }): ReactNode {
  const { t } = useMessages();
  const forms = [
    { name: 'curl', text: asCurl(serverRoot(), request) },
    { name: 'TypeScript', text: asTypeScript(serverRoot(), request) },
  ];
  const { copied, copy } = useClipboard({ timeout: COPIED_MS });
  return (
    <Menu position="bottom-end" withinPortal>
      <Menu.Target>
        <Button variant="default">{copied ? t('id.copied') : t('query.copyAs')}</Button>
      </Menu.Target>
      <Menu.Dropdown>
        {forms.map(({ name, text }) => (
          <Menu.Item key={name} onClick={() => copy(text)}>
            {name}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

/** How long a button says that something was copied. */
const COPIED_MS = 1_500;

function SavedQueries({
  text,
  onChoose,
}: {
  readonly text: string;
  readonly onChoose: (text: string) => void;
}): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  const [isComparing, setIsComparing] = useState(false);
  const [isListing, setIsListing] = useState(false);
  const { data = [] } = useQuery({ queryKey: ['stored-queries'], queryFn: api.storedQueries });
  return (
    <>
      <Select
        label={t('query.saved')}
        placeholder={t(data.length === 0 ? 'query.noneSaved' : 'query.choose')}
        disabled={data.length === 0}
        searchable
        data={queryFolders(data).map(({ folder, queries }) => ({
          group: folder === '' ? t('stored.noFolder') : folder,
          items: queries.flatMap(({ versions }) => versions.map(({ name, version }) => `${name}/${version}`)),
        }))}
        onChange={(value) => {
          const chosen = data.find(({ name, version }) => `${name}/${version}` === value);
          if (chosen !== undefined) onChoose(chosen.q);
        }}
      />
      {data.length > 0 && (
        <Button variant="default" onClick={() => setIsComparing(true)}>
          {t('query.compare')}
        </Button>
      )}
      {data.length > 0 && (
        <Button variant="default" onClick={() => setIsListing(true)}>
          {t('stored.all')}
        </Button>
      )}
      {isListing && <StoredQueries stored={data} onChoose={onChoose} close={() => setIsListing(false)} />}
      {isComparing && <CompareQueries stored={data} text={text} close={() => setIsComparing(false)} />}
    </>
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
    onSuccess: async (version) => {
      setIsOpen(false);
      tell(t('stored.saved', { name: `${name}/${version}` }));
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
            onKeyDown={({ key }) => key === 'Enter' && name !== '' && save.mutate()}
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
