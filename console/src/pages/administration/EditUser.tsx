import '@mantine/core/styles/Pill.css';
import '@mantine/core/styles/PillsInput.css';
import { Button, Group, Modal, MultiSelect, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import type { KnownUser } from '../../api/administration.js';
import { useMessages } from '../../messages/messages.js';
import { useApi } from '../../session/session.js';
import { Failure } from '../../widgets/states.js';
import { tell } from '../../widgets/tell.js';

/** A user with a password: made, given other roles or another password, or removed after a second word. */
export function EditUser({
  user,
  roles,
  close,
}: {
  /** null: a new one. */
  readonly user: KnownUser | null;
  /** Roles that allow anything. */
  readonly roles: readonly string[];
  readonly close: () => void;
}): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  const queries = useQueryClient();
  const [name, setName] = useState(user?.name ?? '');
  const [chosen, setChosen] = useState<readonly string[]>(user?.roles ?? []);
  const [password, setPassword] = useState('');
  const [isSure, setIsSure] = useState(false);
  const done = async (said: string): Promise<void> => {
    await queries.invalidateQueries({ queryKey: ['permissions'] });
    tell(said);
    close();
  };
  const save = useMutation({
    mutationFn: () => api.saveUser(name.trim(), { roles: chosen, ...(password !== '' && { password }) }),
    onSuccess: () => done(t('users.saved', { name: name.trim() })),
  });
  const remove = useMutation({
    mutationFn: () => api.removeUser(name),
    onSuccess: () => done(t('users.removed', { name })),
  });
  const isReady = name.trim() !== '' && chosen.length > 0 && (user !== null || password !== '');
  return (
    <Modal
      opened
      onClose={close}
      title={user === null ? t('users.new') : t('users.edit', { name: user.name })}
      closeButtonProps={{ 'aria-label': t('keys.close') }}
    >
      <Stack gap="sm">
        {user === null && (
          <TextInput
            data-autofocus
            label={t('permissions.user')}
            autoComplete="off"
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
          />
        )}
        <MultiSelect
          label={t('permissions.roles')}
          data={[...new Set([...roles, ...chosen])]}
          value={[...chosen]}
          onChange={setChosen}
        />
        <Password isNew={user === null} value={password} onChange={setPassword} />
        <Failed of={[save.error, remove.error]} />
        <Group justify="space-between">
          <Button disabled={!isReady} loading={save.isPending} onClick={() => save.mutate()}>
            {t('form.save')}
          </Button>
          {user !== null && (
            <Remove
              name={user.name}
              isSure={isSure}
              isPending={remove.isPending}
              onClick={() => (isSure ? remove.mutate() : setIsSure(true))}
            />
          )}
        </Group>
        {isSure && <Text>{t('users.removeHint')}</Text>}
      </Stack>
    </Modal>
  );
}

function Remove({
  name,
  isSure,
  isPending,
  onClick,
}: {
  readonly name: string;
  readonly isSure: boolean;
  readonly isPending: boolean;
  readonly onClick: () => void;
}): ReactNode {
  const { t } = useMessages();
  return (
    <Button variant={isSure ? 'filled' : 'default'} color="red.9" loading={isPending} onClick={onClick}>
      {t(isSure ? 'users.removeSure' : 'users.remove', { name })}
    </Button>
  );
}

function Password({
  isNew,
  value,
  onChange,
}: {
  readonly isNew: boolean;
  readonly value: string;
  readonly onChange: (password: string) => void;
}): ReactNode {
  const { t } = useMessages();
  return (
    <PasswordInput
      label={t(isNew ? 'signIn.password' : 'users.newPassword')}
      description={t(isNew ? 'users.passwordHint' : 'users.keepHint')}
      autoComplete="new-password"
      visibilityToggleButtonProps={{ 'aria-label': t('signIn.showPassword') }}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}

function Failed({ of }: { readonly of: readonly (Error | null)[] }): ReactNode {
  const error = of.find((each) => each !== null);
  return error && <Failure error={error} />;
}
