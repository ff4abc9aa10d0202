import { Button, Popover, SegmentedControl, Select, Stack, TextInput } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import type { Panel } from '../../api/own.js';
import { randomUuid } from '../../api/uuid.js';
import { useMessages } from '../../messages/messages.js';
import { dashboardView } from '../../shell/address.js';
import { tell } from '../../widgets/tell.js';
import { ViewLink } from '../../widgets/ViewLink.js';
import { pinned } from './change-dashboard.js';
import { useDashboardChanges, useDashboards } from './use-dashboards.js';

/** In place of an id: one that is not there yet. */
const NEW = 'new';

/** Puts the query that is written on a dashboard, with what is typed for its parameters. */
export function PinQuery({
  text,
  values,
}: {
  readonly text: string;
  readonly values: Readonly<Record<string, string>>;
}): ReactNode {
  const { t } = useMessages();
  const [isOpen, setIsOpen] = useState(false);
  return (
    <Popover opened={isOpen} onChange={setIsOpen} width={320} position="bottom-end" trapFocus>
      <Popover.Target>
        <Button variant="default" onClick={() => setIsOpen(!isOpen)}>
          {t('dashboard.pin')}
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        {isOpen && <Pinning text={text} values={values} close={() => setIsOpen(false)} />}
      </Popover.Dropdown>
    </Popover>
  );
}

function Pinning({
  text,
  values,
  close,
}: {
  readonly text: string;
  readonly values: Readonly<Record<string, string>>;
  readonly close: () => void;
}): ReactNode {
  const { t } = useMessages();
  const { data: dashboards = [] } = useDashboards();
  const { change } = useDashboardChanges();
  const [chosen, setChosen] = useState<string | null>(null);
  const [name, setName] = useState('');
  const [title, setTitle] = useState('');
  const [show, setShow] = useState<Panel['show']>('table');
  const id = chosen ?? dashboards[0]?.dashboard_id ?? NEW;
  const known = dashboards.find((each) => each.dashboard_id === id);
  const [isPinning, setIsPinning] = useState(false);
  const isReady = !isPinning && title.trim() !== '' && (known !== undefined || name.trim() !== '');
  const pin = async (): Promise<void> => {
    const begun = known ?? { dashboard_id: randomUuid(), name: name.trim(), panels: [], parameters: {} };
    // Whoever clicks twice pins it once.
    setIsPinning(true);
    try {
      await change(begun, pinned({ title: title.trim(), q: text, show }, values));
      tell(t('dashboard.pinned', { name: begun.name }));
      close();
    } catch {
      // What failed was said.
      setIsPinning(false);
    }
  };
  return (
    <Stack gap="sm">
      <Select
        label={t('dashboard.pinTo')}
        allowDeselect={false}
        data={[
          ...dashboards.map(({ dashboard_id: value, name: label }) => ({ value, label })),
          { value: NEW, label: t('dashboard.new') },
        ]}
        value={id}
        onChange={setChosen}
      />
      {known === undefined && (
        <TextInput
          label={t('dashboard.name')}
          maxLength={200}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
      )}
      <TextInput
        label={t('dashboard.title')}
        maxLength={200}
        value={title}
        onChange={(event) => setTitle(event.currentTarget.value)}
        onKeyDown={({ key }) => key === 'Enter' && isReady && void pin()}
      />
      <SegmentedControl
        aria-label={t('dashboard.show')}
        size="xs"
        value={show}
        onChange={(next) => setShow(next)}
        data={(['table', 'chart'] as const).map((value) => ({ value, label: t(`query.${value}`) }))}
      />
      <Button disabled={!isReady} onClick={() => void pin()}>
        {t('dashboard.pin')}
      </Button>
      {dashboards.length > 0 && <ViewLink view={dashboardView()}>{t('nav.dashboards')}</ViewLink>}
    </Stack>
  );
}
