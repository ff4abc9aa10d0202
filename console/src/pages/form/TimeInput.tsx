import { Button, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { isoWithZone } from '../../form/time-form.js';
import { useMessages } from '../../messages/messages.js';
import type { PartProps } from './part-props.js';

/** A date or time as text, since a calendar could not say "in May"; `examples` show how much of it may be left out. */
export function TimeInput({
  part,
  label,
  isRequired,
  error,
  value,
  onChange,
  examples,
}: PartProps & { readonly examples: readonly string[] }): ReactNode {
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
      description={t('form.such', { examples: listed(examples, t('form.or')) })}
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

/** The shortest and the longest: `2026 or 2026-11-23T14:30:00`; all where there are three or less. */
function listed(examples: readonly string[], or: string): string {
  const shown = examples.length > 3 ? [examples[0] ?? '', examples.at(-1) ?? ''] : examples;
  const last = shown.at(-1) ?? '';
  return shown.length > 1 ? `${shown.slice(0, -1).join(', ')} ${or} ${last}` : last;
}
