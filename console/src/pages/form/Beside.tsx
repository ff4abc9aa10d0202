import type { WebTemplate } from '@everchart/client';
import { TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { keysBeside } from '../../form/form-tree.js';
import { keysOf } from '../../form/values.js';
import { useMessages } from '../../messages/messages.js';
import { Section } from '../../widgets/Page.js';
import { useForm, useFormValue, type FormState } from './form-state.js';

const QUIET_MS = 400;

/** What the document says besides its fields: names, links, and other attributes of the reference model. */
export function Beside(): ReactNode {
  const { t } = useMessages();
  const { state, template } = useForm();
  const keys = useKeysBeside(template, state);
  if (keys.length === 0) return null;
  return (
    <Section title={t('form.beside')}>
      <div className="form-fields">
        {keys.map((key) => (
          <BesideField key={key} name={key} onChange={(value) => state.change({ [key]: value })} />
        ))}
      </div>
    </Section>
  );
}

/** Looked for when nobody types: it is about all keys, and hardly ever changes. */
function useKeysBeside(template: WebTemplate, state: FormState): readonly string[] {
  const [keys, setKeys] = useState(() => keysBeside(template, state.values));
  const last = useRef(keysOf(state.values));
  const look = useDebouncedCallback(() => {
    if (last.current === keysOf(state.values)) return;
    last.current = keysOf(state.values);
    setKeys(keysBeside(template, state.values));
  }, QUIET_MS);
  useEffect(() => state.subscribe(look), [state, look]);
  return keys;
}

function BesideField({
  name,
  onChange,
}: {
  readonly name: string;
  readonly onChange: (value: string) => void;
}): ReactNode {
  const value = useFormValue(name, (values) => values[name]);
  return (
    <TextInput
      label={<code>{name}</code>}
      value={value === undefined ? '' : String(value)}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}
