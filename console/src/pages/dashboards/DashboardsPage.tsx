import './dashboards.css';
import { Button, Checkbox, Group, Select } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import type { Dashboard } from '../../api/own.js';
import { useMessages } from '../../messages/messages.js';
import { useAddress } from '../../shell/address.js';
import { Page } from '../../widgets/Page.js';
import { Empty, Failure, Loading } from '../../widgets/states.js';
import { tell } from '../../widgets/tell.js';
import { ViewLink } from '../../widgets/ViewLink.js';
import { parameterNames } from '../query/parameters.js';
import { Parameters } from '../query/Parameters.js';
import { DashboardPanel } from './DashboardPanel.js';
import { earlier, putBack, unpinned } from './change-dashboard.js';
import { useDashboardChanges, useDashboards } from './use-dashboards.js';

/** Queries that the user wants to see together. */
export function DashboardsPage(): ReactNode {
  const { t } = useMessages();
  const { address, change } = useAddress();
  const { data, error, refetch } = useDashboards();
  const shown = data?.find((each) => each.dashboard_id === address['id']) ?? data?.[0];
  return (
    <Page
      title={shown?.name ?? t('nav.dashboards')}
      crumbs={[{ label: t('nav.query'), view: { to: '/query' } }]}
      actions={<Choice of={data} shown={shown} onChange={(id) => change({ id: id ?? undefined })} />}
    >
      {error !== null && <Failure error={error} retry={() => void refetch()} />}
      {data === undefined && error === null && <Loading rows={8} />}
      {data !== undefined &&
        (shown === undefined ? <None /> : <Shown key={shown.dashboard_id} dashboard={shown} />)}
    </Page>
  );
}

function None(): ReactNode {
  const { t } = useMessages();
  return (
    <Empty title={t('dashboard.none')} action={<ViewLink view={{ to: '/query' }}>{t('nav.query')}</ViewLink>}>
      {t('dashboard.noneHint')}
    </Empty>
  );
}

function Choice({
  of,
  shown,
  onChange,
}: {
  readonly of: readonly Dashboard[] | undefined;
  readonly shown: Dashboard | undefined;
  readonly onChange: (id: string | null) => void;
}): ReactNode {
  const { t } = useMessages();
  if (of === undefined || shown === undefined || of.length < 2) return null;
  return (
    <Select
      aria-label={t('nav.dashboards')}
      searchable
      allowDeselect={false}
      data={of.map(({ dashboard_id: value, name: label }) => ({ value, label }))}
      value={shown.dashboard_id}
      onChange={onChange}
    />
  );
}

function Shown({ dashboard }: { readonly dashboard: Dashboard }): ReactNode {
  const { t } = useMessages();
  const queries = useQueryClient();
  const { save, change, remove } = useDashboardChanges();
  const [isFresh, setIsFresh] = useState(false);
  const [typed, setTyped] = useState(dashboard.parameters);
  const { dashboard_id: id, name, panels, parameters } = dashboard;
  const names = [...new Set(panels.flatMap(({ q }) => parameterNames(q)))];
  const refresh = (): void => {
    if (names.some((each) => (typed[each] ?? '') !== (parameters[each] ?? '')))
      void change(dashboard, (each) => ({ ...each, parameters: typed })).catch(() => undefined);
    void queries.invalidateQueries({ queryKey: ['panel'] });
  };
  return (
    <>
      <Group gap="sm" mb="md" align="flex-end">
        <Parameters names={names} values={typed} onChange={setTyped} onEnter={refresh} />
        <Button onClick={refresh}>{t('dashboard.refresh')}</Button>
        <Checkbox
          label={t('dashboard.everyMinute')}
          checked={isFresh}
          onChange={(event) => setIsFresh(event.currentTarget.checked)}
        />
        <Button
          ml="auto"
          variant="default"
          onClick={() =>
            void remove(id).then(
              () => tell(t('dashboard.deleted', { name }), () => save({ ...dashboard, saved_at: undefined })),
              () => undefined,
            )
          }
        >
          {t('dashboard.delete')}
        </Button>
      </Group>
      {panels.length === 0 && <Empty title={t('dashboard.empty')} />}
      <div className="panels">
        {panels.map((panel, index) => (
          <DashboardPanel
            key={`${index} ${panel.title} ${panel.q}`}
            panel={panel}
            values={parameters}
            isFresh={isFresh}
            onEarlier={
              index === 0 ? null : () => void change(dashboard, earlier(panel)).catch(() => undefined)
            }
            onUnpin={() =>
              void change(dashboard, unpinned(panel)).then(
                () =>
                  tell(t('dashboard.unpinned', { title: panel.title }), () =>
                    change(dashboard, putBack(panel, index)),
                  ),
                () => undefined,
              )
            }
          />
        ))}
      </div>
    </>
  );
}
