import { Button, TextInput, UnstyledButton } from '@mantine/core';
import { useRef, type ReactNode } from 'react';
import { isoWithZone } from '../../form/time-form.js';
import { readTime, type TimeKind } from '../../form/time-reading.js';
import { useMessages } from '../../messages/messages.js';
import { Icon } from '../../widgets/Icon.js';
import type { PartProps } from './part-props.js';

const NATIVE = { date: 'date', time: 'time', datetime: 'datetime-local' } as const;

/**
 * A date or time as text, since a calendar could not say "in May"; what people write is read when they are done with it, and
 * the calendar of the browser is beside it. `examples` show how much of it may be left out.
 */
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
  const kind = part.input as TimeKind;
  const text = value === undefined ? '' : String(value);
  const settle = (): void => {
    const read = readTime(kind, text) ?? text.trim();
    if (read !== text) onChange(read);
  };
  return (
    <TextInput
      label={label}
      error={error}
      withAsterisk={isRequired}
      description={t('form.such', { examples: listed(examples, t('form.or')) })}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      classNames={{ input: 'number' }}
      value={text}
      onChange={(event) => onChange(event.currentTarget.value.trimStart())}
      onBlur={settle}
      // Also before Ctrl+Enter sends it.
      onKeyDown={({ key }) => key === 'Enter' && settle()}
      rightSectionWidth={88}
      rightSection={
        <>
          <Picker kind={kind} label={label} value={text} onPick={onChange} />
          <Button
            size="compact-xs"
            variant="subtle"
            onClick={() => onChange(readTime(kind, 'now') ?? undefined)}
          >
            {t(kind === 'date' ? 'form.today' : 'form.now')}
          </Button>
        </>
      }
    />
  );
}

/** The calendar or clock of the browser; what is picked is written as text. */
function Picker({
  kind,
  label,
  value,
  onPick,
}: {
  readonly kind: TimeKind;
  readonly label: string;
  readonly value: string;
  readonly onPick: (iso: string) => void;
}): ReactNode {
  const { t } = useMessages();
  const field = useRef<HTMLInputElement>(null);
  const open = (): void => {
    if (field.current === null) return;
    field.current.value = nativeValue(kind, value);
    field.current.showPicker();
  };
  return (
    <span className="picker">
      <UnstyledButton aria-label={t('form.pick', { label })} onClick={open}>
        <Icon name="calendar" size={16} />
      </UnstyledButton>
      <input
        ref={field}
        type={NATIVE[kind]}
        tabIndex={-1}
        aria-hidden="true"
        onChange={({ currentTarget: { value: picked } }) => {
          if (picked !== '')
            onPick(
              kind === 'datetime' ? isoWithZone(new Date(picked)) : picked + (kind === 'time' ? ':00' : ''),
            );
        }}
      />
    </span>
  );
}

/** What the calendar begins with: the day or minute that is written, where it is a whole one. */
function nativeValue(kind: TimeKind, iso: string): string {
  const [, date = '', time = ''] = /^(?:(\d{4}-\d{2}-\d{2}))?T?(\d{2}:\d{2})?/.exec(iso) ?? [];
  if (kind === 'date') return date;
  if (kind === 'time') return time;
  return date === '' || time === '' ? '' : `${date}T${time}`;
}

/** The shortest and the longest: `2026 or 2026-11-23T14:30:00`; all where there are three or less. */
function listed(examples: readonly string[], or: string): string {
  const shown = examples.length > 3 ? [examples[0] ?? '', examples.at(-1) ?? ''] : examples;
  const last = shown.at(-1) ?? '';
  return shown.length > 1 ? `${shown.slice(0, -1).join(', ')} ${or} ${last}` : last;
}
