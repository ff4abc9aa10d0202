import { Autocomplete, type AutocompleteProps } from '@mantine/core';
import type { ReactNode } from 'react';

/** A text that may be typed or picked: `value` is what it becomes, `label` what is read. */
interface Suggestion {
  readonly value: string;
  readonly label: string;
}

/** A field with suggestions, of which none has to be taken. */
export function SuggestInput({
  suggestions,
  isFound = false,
  ...props
}: Omit<AutocompleteProps, 'data'> & {
  readonly suggestions: readonly Suggestion[];
  /** Whether they are what was searched for already. */
  readonly isFound?: boolean;
}): ReactNode {
  const labels = new Map(suggestions.map(({ value, label }) => [value, label]));
  return (
    <Autocomplete
      {...props}
      data={[...labels.keys()]}
      renderOption={({ option }) => <span>{labels.get(option.value) ?? option.value}</span>}
      filter={({ options, search }) => {
        const wanted = search.trim().toLowerCase();
        // What stands there already was picked: others are offered beside it.
        if (isFound || labels.has(search)) return options;
        return options.filter((option) => {
          const value = 'value' in option ? option.value : '';
          return `${value} ${labels.get(value) ?? ''}`.toLowerCase().includes(wanted);
        });
      }}
    />
  );
}
