import { Input, NumberInput, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { durationOf, partsOfDuration, DURATION_PARTS } from '../../form/duration.js';
import { useMessages } from '../../messages/messages.js';
import type { PartProps } from './part-props.js';

/** A duration as numbers with their units; one that has no such parts as the text it is. */
export function DurationInput({ part, label, isRequired, error, value, onChange }: PartProps): ReactNode {
  const { t } = useMessages();
  const text = value === undefined ? '' : String(value);
  const parts = text === '' ? {} : partsOfDuration(text);
  if (parts === null)
    return (
      <TextInput
        label={label}
        error={error}
        withAsterisk={isRequired}
        value={text}
        onChange={(event) => onChange(event.currentTarget.value.trim())}
      />
    );
  // What is given is shown, also where the template has no such part.
  const shown = DURATION_PARTS.filter(
    (name) => part.durationParts?.includes(name) || parts[name] !== undefined,
  );
  return (
    <Input.Wrapper label={label} error={error} withAsterisk={isRequired} labelElement="div">
      <div className="form-duration">
        {shown.map((name) => (
          <NumberInput
            key={name}
            aria-label={`${label} ${t(`duration.${name}`)}`}
            rightSection={<span className="unit">{t(`duration.${name}`)}</span>}
            rightSectionWidth={36}
            allowNegative={false}
            allowDecimal={name === 'second'}
            value={parts[name] ?? ''}
            onChange={(next) => {
              const { ...changed } = parts;
              if (next === '') Reflect.deleteProperty(changed, name);
              else changed[name] = Number(next);
              onChange(durationOf(changed));
            }}
          />
        ))}
      </div>
    </Input.Wrapper>
  );
}
