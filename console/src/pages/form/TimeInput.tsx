import { Button, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { isoWithZone } from '../../form/time-form.js';
import { useMessages } from '../../messages/messages.js';
import type { PartProps } from './part-props.js';

/** A date or time as text, since a calendar could not say "in May"; `form` says how it is written. */
export function TimeInput({
  part,
  label,
  isRequired,
  error,
  value,
  onChange,
  form,
}: PartProps & { readonly form: string }): ReactNode {
  const { t } = useMessages();
  const now = (): string => {
    const [date = '', time = ''] = isoWithZone(new Date()).split('T');
    if (part.input === 'date') return date;
    return part.input === 'time' ? time : `${date}T${time}`;
  };
  return (
    <TextInput
      label={label}
      error={error}
      withAsterisk={isRequired}
      description={form}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      classNames={{ input: 'number' }}
      value={value === undefined ? '' : String(value)}
      onChange={(event) => onChange(event.currentTarget.value.trim())}
      rightSectionWidth={64}
      rightSection={
        <Button size="compact-xs" variant="subtle" onClick={() => onChange(now())}>
          {t(part.input === 'date' ? 'form.today' : 'form.now')}
        </Button>
      }
    />
  );
}
