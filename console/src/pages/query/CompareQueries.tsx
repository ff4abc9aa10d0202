import { Drawer, Group, Select } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import type { StoredQuery } from '@everchart/client';
import { useMessages } from '../../messages/messages.js';
import { TextDifferences } from '../../widgets/TextDifferences.js';
import { aqlHighlighting } from './editor/aql-language.js';

/** What is in the editor, beside the stored queries. */
const EDITOR = '';

/** What differs between two stored queries, or one of them and what is in the editor. */
export function CompareQueries({
  stored,
  text,
  close,
}: {
  readonly stored: readonly StoredQuery[];
  readonly text: string;
  readonly close: () => void;
}): ReactNode {
  const { t } = useMessages();
  const names = stored.map(({ name, version }) => `${name}/${version}`);
  const [left, setLeft] = useState(names.at(-1) ?? EDITOR);
  const [right, setRight] = useState(EDITOR);
  const textOf = (wanted: string): string =>
    stored.find(({ name, version }) => `${name}/${version}` === wanted)?.q ?? text;
  const data = [
    { value: EDITOR, label: t('query.inEditor') },
    ...names.map((value) => ({ value, label: value })),
  ];
  return (
    <Drawer
      opened
      onClose={close}
      position="right"
      size="lg"
      title={t('query.compare')}
      closeButtonProps={{ 'aria-label': t('keys.close') }}
    >
      <Group grow align="flex-end" mb="md">
        {[
          { label: t('query.before'), value: left, choose: setLeft },
          { label: t('query.after'), value: right, choose: setRight },
        ].map(({ label, value, choose }) => (
          <Select
            key={label}
            label={label}
            data={data}
            value={value}
            allowDeselect={false}
            searchable
            onChange={(next) => choose(next ?? EDITOR)}
          />
        ))}
      </Group>
      <TextDifferences
        language={aqlHighlighting}
        before={textOf(left)}
        after={textOf(right)}
        label={t('query.compare')}
      />
    </Drawer>
  );
}
