import { SimpleGrid, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { useMessages } from '../../../messages/messages.js';
import type { PrincipalTexts } from './principal.js';

const FIELDS = ['sub', 'roles', 'organisation', 'purpose', 'ehr', 'client'] as const;

/** Who asks: as his token says it. */
export function PrincipalFields({
  value,
  onChange,
}: {
  readonly value: PrincipalTexts;
  readonly onChange: (value: PrincipalTexts) => void;
}): ReactNode {
  const { t } = useMessages();
  return (
    <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }} spacing="sm" verticalSpacing="xs">
      {FIELDS.map((field) => (
        <TextInput
          key={field}
          label={t(`who.${field}`)}
          placeholder={t(`who.${field}.example`)}
          value={value[field]}
          onChange={(event) => onChange({ ...value, [field]: event.currentTarget.value })}
        />
      ))}
    </SimpleGrid>
  );
}
