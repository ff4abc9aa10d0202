import { UnstyledButton } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useMessages } from '../../messages/messages.js';
import { useApi } from '../../session/session.js';
import { Hint } from '../../widgets/Hint.js';
import { tell } from '../../widgets/tell.js';
import { FAVOURITES, useFavourites } from '../patients/use-known-patients.js';

/** A star: whether the user finds this record again without looking for it. */
export function Favourite({ ehrId }: { readonly ehrId: string }): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  const queries = useQueryClient();
  const favourites = useFavourites();
  const isOne = favourites?.some((each) => each.ehrId === ehrId) === true;
  const { mutate, isPending } = useMutation({
    mutationFn: (wanted: boolean) => api.favour(ehrId, wanted),
    onSuccess: (_, wanted) => tell(t(wanted ? 'own.favoured' : 'own.unfavoured')),
    onError: (error) => tell(error.message),
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
        disabled={isPending}
        onClick={() => mutate(!isOne)}
      >
        {isOne ? '★' : '☆'}
      </UnstyledButton>
    </Hint>
  );
}
