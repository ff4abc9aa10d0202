import { ActionIcon, Select, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { useMessages } from '../../../messages/messages.js';
import { Section } from '../../../widgets/Page.js';
import type { BuilderField } from './builder-fields.js';
import { labelOf } from './builder-labels.js';
import { OPERATORS, type Condition, type Operator } from './query-parts.js';
import { readValue, settled, shownValue } from './condition-value.js';
import { useTyped } from './use-typed.js';

/** What has to hold, all of it: a path, what is asked, and a value. What is said otherwise stands as it is. */
export function Conditions({
  conditions,
  fields,
  onChange,
}: {
  readonly conditions: readonly Condition[];
  readonly fields: readonly BuilderField[];
  readonly onChange: (conditions: readonly Condition[]) => void;
}): ReactNode {
  const { t } = useMessages();
  return (
    <Section title={t('builder.conditions')}>
      <ul className="builder-rows">
        {conditions.map((condition, index) => {
          const label = labelOf(condition.text, fields);
          return (
            <li key={`${index} ${condition.text}`}>
              <span title={condition.text}>{label}</span>
              {condition.operator !== '' && (
                <Asked
                  condition={condition}
                  label={label}
                  onChange={(next) => onChange(conditions.map((each, at) => (at === index ? next : each)))}
                />
              )}
              <ActionIcon
                variant="subtle"
                aria-label={t('builder.remove', { label })}
                onClick={() => onChange(conditions.filter((_, at) => at !== index))}
              >
                ×
              </ActionIcon>
            </li>
          );
        })}
      </ul>
      <Select
        aria-label={t('builder.addCondition')}
        placeholder={t('builder.addCondition')}
        searchable
        nothingFoundMessage={t('palette.nothing')}
        data={[...fields]}
        value={null}
        onChange={(text) => {
          if (text !== null) onChange([...conditions, { text, operator: 'EXISTS', value: '' }]);
        }}
      />
    </Section>
  );
}

function Asked({
  condition,
  label,
  onChange,
}: {
  readonly condition: Condition;
  readonly label: string;
  readonly onChange: (condition: Condition) => void;
}): ReactNode {
  const { t } = useMessages();
  const [typed, setTyped] = useTyped(shownValue(condition.value));
  const settle = (operator: Operator | ''): void => {
    const next = settled(condition, typed, operator);
    if (next !== null) onChange(next);
  };
  const hasValue = condition.operator !== 'EXISTS';
  return (
    <>
      <Select
        size="xs"
        w={110}
        aria-label={t('builder.operator', { label })}
        allowDeselect={false}
        data={[...OPERATORS]}
        value={condition.operator}
        onChange={(operator) => settle(operator as Operator)}
      />
      {hasValue && (
        <TextInput
          size="xs"
          aria-label={t('builder.value', { label })}
          placeholder={t('builder.valueHint')}
          error={readValue(typed, condition.operator) === null}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          onBlur={() => settle(condition.operator)}
          onKeyDown={({ key }) => key === 'Enter' && settle(condition.operator)}
        />
      )}
    </>
  );
}
