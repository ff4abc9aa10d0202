import { Button, Group, Select, TextInput } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { useMessages } from '../../../messages/messages.js';
import { useGo } from '../../../shell/address.js';
import { READY } from './built-in-policies.js';
import { policyView } from './policy-view.js';
import { readyTitle } from './ready-titles.js';

/** Begins with nothing, which permits nobody anything. */
const BLANK = '';
const BLANK_POLICY = `permit (principal, action, resource)
when { principal.roles.contains("PHYSICIAN") };
`;
/** As the server takes ids. */
const ID = /^(?!(?:validate|decide|compare|observed)$)[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** Begins a policy: its id, and what it starts from. Nothing is stored by that. */
export function NewPolicy({
  taken,
  onBegin,
  close,
}: {
  readonly taken: readonly string[];
  readonly onBegin: (id: string, text: string) => void;
  /** null: there is nothing beside it. */
  readonly close: (() => void) | null;
}): ReactNode {
  const { t } = useMessages();
  const go = useGo();
  const [from, setFrom] = useState(READY.find((ready) => !taken.includes(ready.id))?.id ?? BLANK);
  const [typed, setTyped] = useState<string | null>(null);
  const id = typed ?? from;
  const wrong = taken.includes(id) ? t('policies.taken') : ID.test(id) ? null : t('policies.idHint');
  const begin = (): void => {
    if (wrong !== null) return;
    const ready = READY.find((each) => each.id === from);
    // What it does in words, for whoever looks at the list.
    onBegin(id, ready === undefined ? BLANK_POLICY : `// ${readyTitle(from, t)}\n${ready.policy}`);
    go(policyView(id));
  };
  return (
    <form
      className="new-policy"
      aria-label={t('policies.new')}
      onSubmit={(event) => {
        event.preventDefault();
        begin();
      }}
    >
      <Select
        label={t('policies.from')}
        allowDeselect={false}
        data={[
          { value: BLANK, label: t('policies.blank') },
          ...READY.map(({ id: value }) => ({ value, label: readyTitle(value, t) })),
        ]}
        value={from}
        onChange={(next) => setFrom(next ?? BLANK)}
      />
      <TextInput
        label={t('policies.id')}
        classNames={{ input: 'mono' }}
        value={id}
        error={id === '' ? null : wrong}
        onChange={(event) => setTyped(event.currentTarget.value.trim())}
      />
      <Group gap="xs">
        <Button type="submit" disabled={wrong !== null}>
          {t('policies.begin')}
        </Button>
        {close !== null && (
          <Button variant="default" onClick={close}>
            {t('keys.close')}
          </Button>
        )}
      </Group>
    </form>
  );
}
