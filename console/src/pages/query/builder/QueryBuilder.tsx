import { Alert, Button, Group, NumberInput, Select, Text } from '@mantine/core';
import { CdrError, type Catalogue } from '@everchart/aql';
import { useMemo, type ReactNode } from 'react';
import { useMessages } from '../../../messages/messages.js';
import { Section } from '../../../widgets/Page.js';
import { tell } from '../../../widgets/tell.js';
import { archetypesOf, fieldsOf, type BuilderField } from './builder-fields.js';
import { Columns } from './Columns.js';
import { Conditions } from './Conditions.js';
import { classesOf, readQuery, withColumns, writeQuery, type QueryParts } from './query-parts.js';
import { withArchetype } from './with-archetype.js';

/** A query as lists: what it is about, what it selects, what has to hold, in which order. It is the text beside it, and changes it. */
export function QueryBuilder({
  text,
  catalogue,
  onChange,
}: {
  readonly text: string;
  readonly catalogue: Catalogue | null;
  readonly onChange: (text: string) => void;
}): ReactNode {
  const { t } = useMessages();
  const read = useMemo(() => partsOf(text), [text]);
  if (typeof read === 'string')
    return (
      <Alert color="yellow" variant="light" title={t('builder.unreadable')}>
        {read}
      </Alert>
    );
  const write = (parts: QueryParts): void => {
    try {
      onChange(writeQuery(parts));
    } catch (error) {
      // A limit beside TOP, for instance: the text stays as it is.
      if (!(error instanceof CdrError)) throw error;
      tell(error.message);
    }
  };
  return <Parts parts={read} catalogue={catalogue} onChange={write} />;
}

/** The parts of a query; a text says why it has none. */
function partsOf(text: string): QueryParts | string {
  try {
    return readQuery(text);
  } catch (error) {
    if (error instanceof CdrError) return error.message;
    throw error;
  }
}

function Parts({
  parts,
  catalogue,
  onChange,
}: {
  readonly parts: QueryParts;
  readonly catalogue: Catalogue | null;
  readonly onChange: (parts: QueryParts) => void;
}): ReactNode {
  const { t } = useMessages();
  const classes = classesOf(parts.from);
  const fields = fieldsOf(classes, catalogue, t);
  return (
    <div className="builder">
      {parts.hasComments && <Text className="flag">{t('builder.comments')}</Text>}
      <Section title={t('builder.of')}>
        <ul className="chips">
          {classes.map(({ className, variable, archetype }) => (
            <li key={variable} className="chip" title={archetype ?? className}>
              {catalogue?.archetype(archetype ?? '')?.name ?? className} <code>{variable}</code>
            </li>
          ))}
        </ul>
        <AddArchetype parts={parts} catalogue={catalogue} onChange={onChange} />
      </Section>
      <Columns
        columns={parts.columns}
        fields={fields}
        onChange={(columns) => onChange(withColumns(parts, columns))}
      />
      <Conditions
        conditions={parts.conditions}
        fields={fields}
        onChange={(conditions) => onChange({ ...parts, conditions })}
      />
      <Sorting parts={parts} fields={fields} onChange={onChange} />
    </div>
  );
}

/** One more archetype that the documents have; refused where the query would lose what it names. */
function AddArchetype({
  parts,
  catalogue,
  onChange,
}: {
  readonly parts: QueryParts;
  readonly catalogue: Catalogue | null;
  readonly onChange: (parts: QueryParts) => void;
}): ReactNode {
  const { t } = useMessages();
  const { from } = parts;
  const archetypes = useMemo(() => archetypesOf(catalogue), [catalogue]);
  const data = useMemo(
    () =>
      archetypes.map((each) => {
        const archetype = catalogue?.archetype(each.value);
        return { ...each, disabled: archetype === undefined || withArchetype(from, archetype) === null };
      }),
    [archetypes, catalogue, from],
  );
  return (
    <Select
      mt="xs"
      aria-label={t('builder.addArchetype')}
      placeholder={t('builder.addArchetype')}
      searchable
      nothingFoundMessage={t('palette.nothing')}
      description={data.some(({ disabled }) => disabled) ? t('builder.noPlace') : undefined}
      inputWrapperOrder={['input', 'description']}
      disabled={data.length > 0 && data.every(({ disabled }) => disabled)}
      data={data}
      value={null}
      onChange={(id) => {
        const archetype = id === null ? undefined : catalogue?.archetype(id);
        const next = archetype === undefined ? null : withArchetype(from, archetype);
        if (next !== null) onChange({ ...parts, from: next });
      }}
    />
  );
}

function Sorting({
  parts,
  fields,
  onChange,
}: {
  readonly parts: QueryParts;
  readonly fields: readonly BuilderField[];
  readonly onChange: (parts: QueryParts) => void;
}): ReactNode {
  const { t } = useMessages();
  const names = parts.columns.flatMap(({ alias }) => (alias === '' ? [] : [{ value: alias, label: alias }]));
  const { order } = parts;
  const known = new Set([...names, ...fields].map(({ value }) => value));
  const [first] = order;
  const data = [
    ...names,
    ...fields,
    ...(first === undefined || known.has(first.text) ? [] : [{ value: first.text, label: first.text }]),
  ];
  return (
    <Section title={t('builder.order')}>
      <Group align="flex-end" gap="xs">
        <Select
          label={t('builder.by')}
          searchable
          clearable
          clearButtonProps={{ 'aria-label': t('form.clear', { label: t('builder.by') }) }}
          data={data}
          value={first?.text ?? null}
          onChange={(text) =>
            onChange({
              ...parts,
              order: text === null ? [] : [{ text, isDescending: false }, ...order.slice(1)],
            })
          }
        />
        {first !== undefined && (
          <Button
            variant="default"
            onClick={() =>
              onChange({
                ...parts,
                order: [{ ...first, isDescending: !first.isDescending }, ...order.slice(1)],
              })
            }
          >
            {t(first.isDescending ? 'builder.descending' : 'builder.ascending')}
          </Button>
        )}
        {order.length > 1 && (
          <Text size="sm">
            {t('builder.then', {
              by: order
                .slice(1)
                .map(({ text }) => text)
                .join(', '),
            })}
          </Text>
        )}
        <Limit parts={parts} onChange={onChange} />
      </Group>
    </Section>
  );
}

/** How many rows at most, where that is a number. */
function Limit({
  parts,
  onChange,
}: {
  readonly parts: QueryParts;
  readonly onChange: (parts: QueryParts) => void;
}): ReactNode {
  const { t } = useMessages();
  const { limit } = parts;
  if (!/^\d*$/.test(limit)) return null;
  return (
    <NumberInput
      label={t('builder.limit')}
      min={1}
      // 0, which is no limit, is never written.
      clampBehavior="strict"
      allowNegative={false}
      allowDecimal={false}
      hideControls
      value={limit === '' ? '' : Number(limit)}
      onChange={(next) => onChange({ ...parts, limit: String(next), ...(next === '' && { offset: '' }) })}
    />
  );
}
