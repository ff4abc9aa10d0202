import { Autocomplete } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import type { Concept } from '../../api/own.js';
import { conceptParts, conceptTextParts } from '../../form/concept-parts.js';
import { useMessages } from '../../messages/messages.js';
import { useApi } from '../../session/session.js';
import type { PartProps } from './part-props.js';

/** How long somebody who types is left alone, ms. */
const QUIET_MS = 250;

/** The text of a code, found by words in the value set that the template names; where nobody can be asked, a text beside its code. */
export function ConceptInput({
  part,
  label,
  isRequired,
  error,
  value,
  onChange,
  onChangeParts,
}: PartProps): ReactNode {
  const { t } = useMessages();
  const text = value === undefined ? '' : String(value);
  const { ask, concepts, isNobodyThere, isAway } = useConcepts(part.valueSet ?? '', text.trim());
  return (
    <Autocomplete
      label={label}
      error={error}
      withAsterisk={isRequired}
      description={isAway ? t('concept.away') : undefined}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      data={[...concepts.keys()]}
      // The server has searched.
      filter={({ options }) => options}
      value={text}
      onFocus={ask}
      // Where nobody can be asked, text and code are typed one by one.
      onChange={(next) => (isNobodyThere ? onChange(next) : onChangeParts(conceptTextParts(next)))}
      onOptionSubmit={(shown) => {
        const concept = concepts.get(shown);
        // After the field has taken over what is shown.
        if (concept !== undefined) queueMicrotask(() => onChangeParts(conceptParts(concept)));
      }}
    />
  );
}

/** Concepts of a value set that fit a text, by what is shown of them: two of one name are told apart by their codes. */
function useConcepts(valueSet: string, text: string) {
  const api = useApi();
  // A form of a hundred codes asks for none that nobody looks at.
  const [isAsked, setIsAsked] = useState(false);
  const [wanted] = useDebouncedValue(text, QUIET_MS);
  const { data, error, isPlaceholderData } = useQuery({
    queryKey: ['concepts', valueSet, wanted],
    queryFn: () => api.concepts(valueSet, wanted),
    enabled: isAsked,
    placeholderData: keepPreviousData,
    retry: false,
    staleTime: Infinity,
  });
  // Of what was found for other words that alone is offered which fits these: Enter takes the first.
  const isOfOthers = isPlaceholderData || wanted !== text;
  const shown = (data ?? [])
    .map((each): readonly [string, Concept] => [`${each.display || each.code} (${each.code})`, each])
    .filter(([label]) => !isOfOthers || label.toLowerCase().includes(text.toLowerCase()));
  return {
    ask: () => setIsAsked(true),
    concepts: new Map(shown),
    isNobodyThere: data === null,
    isAway: error !== null,
  };
}
