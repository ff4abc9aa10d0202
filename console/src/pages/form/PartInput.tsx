import { Autocomplete, NumberInput, Select, Textarea, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { timeExamples } from '../../form/time-form.js';
import { useMessages } from '../../messages/messages.js';
import { ConceptInput } from './ConceptInput.js';
import { FileInput } from './FileInput.js';
import { DurationInput } from './DurationInput.js';
import { unitText } from '../../record/values/units.js';
import { rangeText } from '../../record/web-node.js';
import type { PartProps } from './part-props.js';
import { TimeInput } from './TimeInput.js';

/** Room for a unit behind a number. Pixels. */
const UNIT_WIDTH = 64;

/** One input of a field, by what it takes. */
export function PartInput(props: PartProps): ReactNode {
  switch (props.part.input) {
    case 'choice':
      return <ChoiceInput {...props} />;
    case 'boolean':
      return <BooleanInput {...props} />;
    case 'number':
    case 'integer':
      return <NumberPart {...props} />;
    case 'date':
    case 'time':
    case 'datetime':
      return <TimeInput {...props} examples={timeExamples(props.part.input, props.part.pattern)} />;
    case 'concept':
      return <ConceptInput {...props} />;
    case 'file':
      return <FileInput {...props} />;
    case 'duration':
      return <DurationInput {...props} />;
    default:
      return <TextPart {...props} />;
  }
}

function TextPart({ part, label, isRequired, error, value, onChange }: PartProps): ReactNode {
  const common = { label, error, withAsterisk: isRequired, value: value === undefined ? '' : String(value) };
  if (part.options !== undefined)
    return <Autocomplete {...common} data={part.options.map((option) => option.label)} onChange={onChange} />;
  if (part.input === 'lines')
    return (
      <Textarea
        {...common}
        autosize
        minRows={1}
        maxRows={12}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    );
  return <TextInput {...common} onChange={(event) => onChange(event.currentTarget.value)} />;
}

function ChoiceInput({ part, label, isRequired, error, value, onChange }: PartProps): ReactNode {
  const { t } = useMessages();
  const options = part.options ?? [];
  const chosen = value === undefined ? null : String(value);
  const isMissing = chosen !== null && !options.some((option) => option.value === chosen);
  const description = options.find((option) => option.value === chosen)?.description;
  return (
    <Select
      label={label}
      error={error}
      withAsterisk={isRequired}
      description={description}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      searchable
      // Enter on what is chosen would take it away.
      allowDeselect={false}
      clearable
      clearButtonProps={{ 'aria-label': t('form.clear', { label }) }}
      nothingFoundMessage={t('palette.nothing')}
      // What the template does not list is shown as it is, and the server says what is wrong with it.
      data={unique(isMissing ? [{ value: chosen, label: chosen }, ...options] : options)}
      value={chosen}
      onChange={(next) => onChange(next ?? undefined)}
    />
  );
}

/** Templates list a code twice now and then, and labels of two codes may be the same. */
function unique(options: readonly { readonly value: string; readonly label: string }[]) {
  const labels = options.map(({ label }) => label);
  return [...new Map(options.map((option) => [option.value, option])).values()].map(({ value, label }) => ({
    value,
    label: labels.indexOf(label) === labels.lastIndexOf(label) ? label : `${label} (${value})`,
  }));
}

function BooleanInput({ label, isRequired, error, value, onChange }: PartProps): ReactNode {
  const { t } = useMessages();
  return (
    <Select
      label={label}
      error={error}
      withAsterisk={isRequired}
      clearable
      clearButtonProps={{ 'aria-label': t('form.clear', { label }) }}
      data={[
        { value: 'true', label: t('form.yes') },
        { value: 'false', label: t('form.no') },
      ]}
      value={value === undefined ? null : String(value)}
      onChange={(next) => onChange(next === null ? undefined : next === 'true')}
    />
  );
}

function NumberPart({ part, label, isRequired, error, value, onChange }: PartProps): ReactNode {
  const { language } = useMessages();
  return (
    <NumberInput
      label={label}
      error={error}
      withAsterisk={isRequired}
      description={described(part)}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      allowDecimal={part.input === 'number'}
      decimalSeparator={language === 'de' ? ',' : '.'}
      allowedDecimalSeparators={['.', ',']}
      hideControls
      classNames={{ root: 'form-number', input: 'number' }}
      {...(part.unit !== undefined && {
        rightSection: <span className="unit">{unitText(part.unit)}</span>,
        rightSectionWidth: UNIT_WIDTH,
      })}
      value={value === undefined ? '' : (value as number)}
      onChange={(next) => onChange(next === '' ? undefined : next)}
    />
  );
}

/** What it may be, with its unit, which stands in the field for those who see it. */
function described({ range, unit }: PartProps['part']): string {
  const text = rangeText(range);
  return text === '' || unit === undefined ? text : `${text} ${unitText(unit)}`;
}
