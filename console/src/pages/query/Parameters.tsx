import { TextInput } from '@mantine/core';
import type { ReactNode } from 'react';

/** A field for each parameter of a query; `onEnter`: somebody is done. */
export function Parameters({
  names,
  values,
  onChange,
  onEnter,
}: {
  readonly names: readonly string[];
  readonly values: Readonly<Record<string, string>>;
  readonly onChange: (values: Readonly<Record<string, string>>) => void;
  readonly onEnter?: () => void;
}): ReactNode {
  if (names.length === 0) return null;
  return (
    <div className="params">
      {names.map((name) => (
        <TextInput
          key={name}
          label={`$${name}`}
          size="xs"
          classNames={{ root: 'mono' }}
          value={values[name] ?? ''}
          onKeyDown={({ key }) => key === 'Enter' && onEnter?.()}
          onChange={(event) => onChange({ ...values, [name]: event.currentTarget.value })}
        />
      ))}
    </div>
  );
}
