import { Button, Table, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import type { KnownUser, PermissionsReport } from '../../api/administration.js';
import { useMessages } from '../../messages/messages.js';
import { useApi, useOffice } from '../../session/session.js';
import { Section } from '../../widgets/Page.js';
import { scrolledByKeys } from '../../widgets/scrolled-by-keys.js';
import { EditUser } from './EditUser.js';
import { Failure, Loading } from '../../widgets/states.js';

/** What a role may be allowed, in the order of power. */
const PERMISSIONS = [
  'read',
  'write',
  'define',
  'draft',
  'audit',
  'admin',
  'commit_for_others',
  'write_lenient',
] as const;
/** What only some servers allow anybody. */
const RARE = ['restore', 'emergency'] as const;
/** Users that are listed before somebody narrows them. */
const SHOWN = 100;

/** Who is signed in, what each role may do, and the users that the server itself knows. */
export function PermissionsTab(): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  const { data, error } = useQuery({ queryKey: ['permissions'], queryFn: api.permissions });
  if (error !== null) return <Failure error={error} />;
  if (data === undefined) return <Loading rows={6} />;
  return (
    <>
      <Section title={t('permissions.you')}>
        {data.user === null ? (
          <Text>{t('server.open')}</Text>
        ) : (
          <Text>
            <b>{data.user.name}</b> · {data.user.roles.join(', ')}
          </Text>
        )}
      </Section>
      <Section title={t('permissions.roles')}>
        <Text size="sm" c="dimmed" mb="xs">
          {t('permissions.rolesHint')}
        </Text>
        <Roles {...data} />
      </Section>
      <Section title={t('permissions.users')}>
        {data.users === null ? (
          <Text c="dimmed">{t('permissions.elsewhere')}</Text>
        ) : (
          <Users users={data.users} roles={data.roles.map(({ role }) => role)} />
        )}
      </Section>
    </>
  );
}

function Roles({ user, roles }: Pick<PermissionsReport, 'user' | 'roles'>): ReactNode {
  const { t } = useMessages();
  const usual: readonly string[] = PERMISSIONS;
  const others = roles.flatMap(({ permissions }) => permissions).filter((name) => !usual.includes(name));
  const columns = [...PERMISSIONS, ...new Set(others)];
  return (
    <Table.ScrollContainer minWidth={480} scrollAreaProps={scrolledByKeys(t('permissions.roles'))}>
      <Table className="grid permissions">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('permissions.role')}</Table.Th>
            {columns.map((name) => (
              <Table.Th key={name} title={isKnown(name) ? t(`permissions.${name}`) : name}>
                {name}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {roles.map(({ role, permissions }) => (
            <Table.Tr key={role}>
              <Table.Th scope="row">
                {role}{' '}
                {user?.roles.includes(role) === true && (
                  <span className="well">{t('permissions.yours')}</span>
                )}
              </Table.Th>
              {columns.map((name) => (
                <Table.Td key={name}>{permissions.includes(name) ? t('form.yes') : '–'}</Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function isKnown(name: string): name is (typeof PERMISSIONS | typeof RARE)[number] {
  return [...PERMISSIONS, ...RARE].some((known) => known === name);
}

function Users({
  users,
  roles: known,
}: {
  readonly users: NonNullable<PermissionsReport['users']>;
  readonly roles: readonly string[];
}): ReactNode {
  const { t } = useMessages();
  const isAdmin = useOffice()?.isAdmin === true;
  /** null: nobody is edited; 'new': one who is not there yet. */
  const [edited, setEdited] = useState<KnownUser | 'new' | null>(null);
  const [text, setText] = useState('');
  const wanted = text.trim().toLowerCase();
  const found = users.filter(({ name, roles }) =>
    `${name} ${roles.join(' ')}`.toLowerCase().includes(wanted),
  );
  return (
    <>
      {edited !== null && (
        <EditUser user={edited === 'new' ? null : edited} roles={known} close={() => setEdited(null)} />
      )}
      {isAdmin && (
        <Button size="xs" variant="default" mb="xs" onClick={() => setEdited('new')}>
          {t('users.new')}
        </Button>
      )}
      <TextInput
        type="search"
        mb="xs"
        w={320}
        maw="100%"
        placeholder={t('permissions.find')}
        aria-label={t('permissions.find')}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <Table className="grid">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('permissions.user')}</Table.Th>
            <Table.Th>{t('permissions.roles')}</Table.Th>
            {isAdmin && <Table.Th aria-label={t('users.change')} />}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {found.slice(0, SHOWN).map((user) => (
            <Table.Tr key={user.name}>
              <Table.Td>{user.name}</Table.Td>
              <Table.Td>{user.roles.join(', ')}</Table.Td>
              {isAdmin && (
                <Table.Td className="end">
                  <Button
                    size="compact-xs"
                    variant="default"
                    aria-label={t('users.edit', { name: user.name })}
                    onClick={() => setEdited(user)}
                  >
                    {t('users.change')}
                  </Button>
                </Table.Td>
              )}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <Text size="sm" c="dimmed" mt="xs" className="number">
        {t('permissions.count', { count: Math.min(found.length, SHOWN), all: users.length })}
      </Text>
    </>
  );
}
