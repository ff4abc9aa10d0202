import { Radio, Stack, Text, TextInput } from '@mantine/core';
import '@mantine/core/styles/Radio.css';
import type { ReactNode } from 'react';
import type { Emergency } from '../../api/emergency.js';
import { useMessages } from '../../messages/messages.js';

/** What is stated of an emergency before it is. */
type StatedEmergency = Omit<Emergency, 'since'>;

/** Nothing is stated. */
export const UNSTATED: StatedEmergency = { purpose: 'ETREAT', reason: '' };

/** Characters that the server takes. */
const MOST = 500;

/** Asks what an emergency is, and says before it is too late that it is recorded. */
export function EmergencyFields({
  value,
  onChange,
}: {
  readonly value: StatedEmergency;
  readonly onChange: (value: StatedEmergency) => void;
}): ReactNode {
  const { t } = useMessages();
  return (
    <Stack gap="sm">
      <Text>{t('emergency.hint')}</Text>
      <Radio.Group
        label={t('emergency.purpose')}
        value={value.purpose}
        onChange={(purpose) => onChange({ ...value, purpose: purpose === 'BTG' ? 'BTG' : 'ETREAT' })}
      >
        <Stack gap={6} mt={4}>
          {(['ETREAT', 'BTG'] as const).map((purpose) => (
            <Radio key={purpose} value={purpose} label={t(`emergency.${purpose}`)} />
          ))}
        </Stack>
      </Radio.Group>
      <TextInput
        label={t('emergency.reason')}
        description={t('emergency.reasonHint')}
        data-autofocus
        required
        maxLength={MOST}
        value={value.reason}
        onChange={(event) => onChange({ ...value, reason: event.currentTarget.value })}
      />
    </Stack>
  );
}
