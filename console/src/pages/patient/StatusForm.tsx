import { CdrError } from '@everchart/client';
import { Button, Checkbox, Group, Text, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import type { StatusChange } from '../../api/records.js';
import { textAt } from '../../api/json.js';
import type { JsonObject } from '../../api/types.js';
import { useMessages } from '../../messages/messages.js';
import { useApi } from '../../session/session.js';
import { Failure } from '../../widgets/states.js';

const REFERENCE = ['subject', 'external_ref'] as const;

/** Changes who the patient is, and whether the record is found and written to; other details stay as they are. */
export function StatusForm({
  ehrId,
  status,
  close,
}: {
  readonly ehrId: string;
  readonly status: JsonObject;
  readonly close: () => void;
}): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  const queries = useQueryClient();
  // What somebody else changes meanwhile is not changed back unseen.
  const [uid] = useState(textAt(status, 'uid', 'value'));
  const [value, setValue] = useState<StatusChange>({
    id: textAt(status, ...REFERENCE, 'id', 'value'),
    namespace: textAt(status, ...REFERENCE, 'namespace'),
    isQueryable: status.is_queryable !== false,
    isModifiable: status.is_modifiable !== false,
  });
  const save = useMutation({
    mutationFn: () => api.changeStatus(ehrId, uid, value),
    onSuccess: async () => {
      await queries.invalidateQueries();
      close();
    },
  });
  const isHalf = (value.id === '') !== (value.namespace === '');
  return (
    <form
      className="status-form"
      // As in any form, Enter sends nothing.
      onSubmit={(event) => event.preventDefault()}
      onKeyDown={({ key, ctrlKey, metaKey }) => {
        if (key === 'Enter' && (ctrlKey || metaKey) && !isHalf && !save.isPending) save.mutate();
      }}
    >
      <StatusFields value={value} isHalf={isHalf} change={setValue} />
      {save.error instanceof CdrError && save.error.status === 412 ? (
        <Text role="alert" className="flag">
          {t('conflict.title')}
        </Text>
      ) : (
        save.error !== null && <Failure error={save.error} />
      )}
      <Group gap="xs">
        <Button
          size="xs"
          title="Ctrl Enter"
          disabled={isHalf}
          loading={save.isPending}
          onClick={() => save.mutate()}
        >
          {t('form.save')}
        </Button>
        <Button size="xs" variant="default" onClick={close}>
          {t('history.cancel')}
        </Button>
      </Group>
    </form>
  );
}

function StatusFields({
  value,
  isHalf,
  change,
}: {
  readonly value: StatusChange;
  readonly isHalf: boolean;
  readonly change: (value: StatusChange) => void;
}): ReactNode {
  const { t } = useMessages();
  return (
    <>
      <TextInput
        label={t('status.subject')}
        description={t('status.subjectHint')}
        value={value.id}
        onChange={(event) => change({ ...value, id: event.currentTarget.value.trim() })}
      />
      <TextInput
        label={t('status.namespace')}
        error={isHalf && t('status.both')}
        value={value.namespace}
        onChange={(event) => change({ ...value, namespace: event.currentTarget.value.trim() })}
      />
      <Checkbox
        label={t('status.queryable')}
        description={t('status.queryableHint')}
        checked={value.isQueryable}
        onChange={(event) => change({ ...value, isQueryable: event.currentTarget.checked })}
      />
      <Checkbox
        label={t('status.modifiable')}
        description={t('status.modifiableHint')}
        checked={value.isModifiable}
        onChange={(event) => change({ ...value, isModifiable: event.currentTarget.checked })}
      />
    </>
  );
}
