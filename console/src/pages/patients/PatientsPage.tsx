import { Checkbox, Group, TextInput } from '@mantine/core';
import { useDebouncedCallback, useHotkeys } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Navigate } from '@tanstack/react-router';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { useAddress } from '../../shell/address.js';
import { useMessages } from '../../messages/messages.js';
import { useApi, useOffice, useOwnEhr } from '../../session/session.js';
import { Icon } from '../../widgets/Icon.js';
import { Page } from '../../widgets/Page.js';
import { Empty, Failure, Loading } from '../../widgets/states.js';
import { AllPatients } from './AllPatients.js';
import { EmergencySearch } from './EmergencySearch.js';
import { ConditionFilter } from './ConditionFilter.js';
import { Pager } from './Pager.js';
import { KnownPatients } from './KnownPatients.js';
import { findPatients, type PatientSearch } from './patient-queries.js';
import { PatientTable } from './PatientTable.js';

const PAGE_SIZE = 25;

/** Who is it? */
export function PatientsPage(): ReactNode {
  const { t } = useMessages();
  const { address, change: go } = useAddress();
  const { find = '', where = '', page = '1', all } = address;
  const office = useOffice();
  const own = useOwnEhr();
  const mayListAll = office?.isAdmin === true && `${find}${where}` === '';
  const number = Math.max(1, Number.parseInt(page, 10) || 1);
  if (own !== undefined) return <Navigate to="/patients/$ehrId" params={{ ehrId: own }} replace />;
  return (
    <Page title={t('nav.patients')}>
      <Group align="flex-start" gap="sm" className="filters">
        <FindField
          value={find}
          onChange={(text) => {
            go({ find: text === '' ? undefined : text, page: undefined });
          }}
        />
        <ConditionFilter
          value={where}
          onApply={(text) => {
            go({ where: text === '' ? undefined : text, page: undefined });
          }}
        />
      </Group>
      {`${find}${where}` === '' && <KnownPatients />}
      {mayListAll && (
        <Checkbox
          mb="sm"
          label={t('patients.all')}
          description={t('patients.allHint')}
          checked={all === 'yes'}
          onChange={(event) => {
            go({ all: event.currentTarget.checked ? 'yes' : undefined, page: undefined });
          }}
        />
      )}
      {mayListAll && all === 'yes' ? (
        <AllPatients pageSize={PAGE_SIZE} />
      ) : (
        <Result
          search={{ find, where, offset: (number - 1) * PAGE_SIZE, fetch: PAGE_SIZE + 1 }}
          turn={(by) => {
            go({ page: String(number + by) });
          }}
        />
      )}
    </Page>
  );
}

function FindField({
  value,
  onChange,
}: {
  readonly value: string;
  readonly onChange: (text: string) => void;
}): ReactNode {
  const { t } = useMessages();
  const [text, setText] = useState(value);
  const field = useRef<HTMLInputElement>(null);
  // What is asked for elsewhere, such as all of them, stands in the field too; what is typed here is further already.
  const asked = useRef(value);
  useEffect(() => {
    if (value === asked.current) return;
    asked.current = value;
    setText(value);
  }, [value]);
  const search = useDebouncedCallback((wanted: string) => {
    asked.current = wanted;
    onChange(wanted);
  }, 200);
  useHotkeys([['/', () => field.current?.focus()]]);
  return (
    <TextInput
      ref={field}
      className="find"
      size="md"
      type="search"
      autoFocus
      leftSection={<Icon name="search" />}
      placeholder={t('patients.find')}
      aria-label={t('patients.find')}
      value={text}
      onChange={(event) => {
        setText(event.currentTarget.value);
        search(event.currentTarget.value.trim());
      }}
    />
  );
}

function Result({
  search,
  turn,
}: {
  readonly search: PatientSearch;
  readonly turn: (by: number) => void;
}): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  const { data, error, refetch, isPlaceholderData } = useQuery({
    queryKey: ['patients', search],
    queryFn: () => findPatients(api, search),
    placeholderData: keepPreviousData,
  });
  if (error !== null) return <Failure error={error} retry={() => void refetch()} />;
  if (data === undefined) return <Loading rows={10} height={22} />;
  const isSearch = search.find !== '' || search.where !== '';
  if (data.length === 0)
    return (
      <>
        <Empty title={t(isSearch ? 'patients.none' : 'patients.noneYet')}>
          {t(isSearch ? 'patients.noneHint' : 'patients.noneYetHint')}
        </Empty>
        <EmergencySearch key={search.find} find={search.find} />
      </>
    );
  const named = data.filter(({ isNamed }) => isNamed);
  const rows = data.slice(named.length);
  const shown = rows.slice(0, PAGE_SIZE);
  return (
    <div data-stale={isPlaceholderData}>
      <PatientTable patients={[...named, ...shown]} />
      <Pager
        first={search.offset}
        count={shown.length}
        onPrevious={search.offset === 0 ? null : () => turn(-1)}
        onNext={rows.length <= PAGE_SIZE ? null : () => turn(1)}
      />
      <EmergencySearch key={search.find} find={search.find} />
    </div>
  );
}
