import { isAqlWord } from '@everchart/aql';
import { ActionIcon, Group, Select, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { useMessages } from '../../../messages/messages.js';
import { Section } from '../../../widgets/Page.js';
import { freshAlias, labelOf } from './builder-labels.js';
import type { BuilderField } from './builder-fields.js';
import type { Column } from './query-parts.js';
import { useTyped } from './use-typed.js';

/** What is selected: each column with its name, moved up, taken away; one more by its term. */
export function Columns({
  columns,
  fields,
  onChange,
}: {
  readonly columns: readonly Column[];
  readonly fields: readonly BuilderField[];
  readonly onChange: (columns: readonly Column[]) => void;
}): ReactNode {
  const { t } = useMessages();
  const set = (index: number, column: Column): void =>
    onChange(columns.map((each, at) => (at === index ? column : each)));
  return (
    <Section title={t('builder.columns')}>
      <ol className="builder-rows">
        {columns.map((column, index) => {
          const label = labelOf(column.text, fields);
          return (
            <li key={`${index} ${column.text}`}>
              <span title={column.text}>{label}</span>
              <Alias column={column} label={label} onChange={(alias) => set(index, { ...column, alias })} />
              {index > 0 && (
                <ActionIcon
                  variant="subtle"
                  aria-label={t('builder.earlier', { label })}
                  onClick={() => onChange(earlier(columns, index))}
                >
                  ↑
                </ActionIcon>
              )}
              {columns.length > 1 && (
                <ActionIcon
                  variant="subtle"
                  aria-label={t('builder.remove', { label })}
                  onClick={() => onChange(columns.filter((_, at) => at !== index))}
                >
                  ×
                </ActionIcon>
              )}
            </li>
          );
        })}
      </ol>
      <Group>
        <Select
          aria-label={t('builder.addColumn')}
          placeholder={t('builder.addColumn')}
          searchable
          nothingFoundMessage={t('palette.nothing')}
          data={[...fields]}
          value={null}
          onChange={(text) => {
            if (text !== null)
              onChange([...columns, { text, alias: freshAlias(labelOf(text, fields), columns) }]);
          }}
        />
      </Group>
    </Section>
  );
}

/** Taken over when it is a name that AQL takes, so that the query is one at any time. */
function Alias({
  column,
  label,
  onChange,
}: {
  readonly column: Column;
  readonly label: string;
  readonly onChange: (alias: string) => void;
}): ReactNode {
  const { t } = useMessages();
  const [typed, setTyped] = useTyped(column.alias);
  const isName = typed === '' || (/^[A-Za-z]\w*$/.test(typed) && !isAqlWord(typed));
  const settle = (): void => {
    if (isName && typed !== column.alias) onChange(typed);
  };
  return (
    <TextInput
      size="xs"
      classNames={{ input: 'mono' }}
      aria-label={t('builder.alias', { label })}
      placeholder={t('builder.aliasHint')}
      error={!isName}
      value={typed}
      onChange={(event) => setTyped(event.currentTarget.value.trim())}
      onBlur={settle}
      onKeyDown={({ key }) => key === 'Enter' && settle()}
    />
  );
}

function earlier<T>(list: readonly T[], index: number): T[] {
  const moved = [...list];
  moved.splice(index - 1, 0, ...moved.splice(index, 1));
  return moved;
}
