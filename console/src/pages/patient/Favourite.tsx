import { UnstyledButton } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { FavouriteEhr } from '../../api/own.js';
import { useMessages } from '../../messages/messages.js';
import { useApi } from '../../session/session.js';
import { Hint } from '../../widgets/Hint.js';
import { failureTexts } from '../../widgets/states.js';
import { tell } from '../../widgets/tell.js';
import { FAVOURITES, useFavourites } from '../patients/use-known-patients.js';

/** A star: whether the user finds this record again without looking for it. */
export function Favourite({
  ehrId,
  subject,
}: {
  readonly ehrId: string;
  /** Empty: nobody is named. */
  readonly subject: string;
}): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  const queries = useQueryClient();
  const favourites = useFavourites();
  const isOne = favourites?.some((each) => each.ehrId === ehrId) === true;
  const { mutate, isPending } = useMutation({
    mutationFn: (wanted: boolean) => api.favour(ehrId, wanted),
    onSuccess: (_, wanted) => {
      // Also where the list cannot be had afterwards.
      queries.setQueryData<readonly FavouriteEhr[]>(FAVOURITES, (before = []) => [
        ...(wanted ? [{ ehr_id: ehrId, ...(subject !== '' && { subject: { id: subject } }) }] : []),
        ...before.filter((each) => each.ehr_id !== ehrId),
      ]);
      tell(t(wanted ? 'own.favoured' : 'own.unfavoured'));
    },
    onError: (error) => {
      const { title, text } = failureTexts(error, t);
      tell(`${title}: ${text}`);
    },
    onSettled: () => queries.invalidateQueries({ queryKey: FAVOURITES }),
  });
  if (favourites === null) return null;
  const label = t(isOne ? 'own.unfavour' : 'own.favour');
  return (
    <Hint label={label}>
      <UnstyledButton
        className="star"
        aria-pressed={isOne}
        aria-label={t('own.favour')}
        aria-disabled={isPending}
        onClick={() => !isPending && mutate(!isOne)}
      >
        {isOne ? '★' : '☆'}
      </UnstyledButton>
    </Hint>
  );
}
