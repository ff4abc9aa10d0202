import { Group, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { useMessages } from '../../messages/messages.js';

/** Why, and who asked for it; as the record and the audit keep it. */
export interface MotiveText {
  readonly reason: string;
  readonly requestedBy: string;
}

/** What nobody has typed yet. */
export const NO_MOTIVE: MotiveText = { reason: '', requestedBy: '' };

/** The motive as a request has it: what is empty is left out. */
export function sentMotive({ reason, requestedBy }: MotiveText) {
  return {
    ...(reason.trim() !== '' && { reason: reason.trim() }),
    ...(requestedBy.trim() !== '' && { requested_by: requestedBy.trim() }),
  };
}

/** Asks why, and who asked for it. */
export function Motive({
  value,
  onChange,
}: {
  readonly value: MotiveText;
  readonly onChange: (value: MotiveText) => void;
}): ReactNode {
  const { t } = useMessages();
  return (
    <Group align="flex-end" mt="md" grow>
      <TextInput
        label={t('merge.reason')}
        maxLength={500}
        value={value.reason}
        onChange={(event) => onChange({ ...value, reason: event.currentTarget.value })}
      />
      <TextInput
        label={t('merge.requestedBy')}
        maxLength={200}
        value={value.requestedBy}
        onChange={(event) => onChange({ ...value, requestedBy: event.currentTarget.value })}
      />
    </Group>
  );
}
