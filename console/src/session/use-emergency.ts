import { useQueryClient } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import { emergencies, type Emergency } from '../api/emergency.js';
import { useMayBreakGlass } from './session.js';

/** What a record is open for in an emergency; undefined: it is not. */
export function useEmergency(ehrId: string): Emergency | undefined {
  return useSyncExternalStore(emergencies.subscribe, () => emergencies.of(ehrId));
}

/** Whether the user could see more of a record, or without id of all, in an emergency. */
export function useIsWithheld(ehrId?: string): boolean {
  const may = useMayBreakGlass();
  return useSyncExternalStore(emergencies.subscribe, () => emergencies.isWithheld(ehrId)) && may;
}

/** Opens a record in an emergency, or ends that: what was shown of it is asked anew, and nothing stays that may not. */
export function useEmergencyActs(): {
  readonly begin: (ehrId: string, stated: Omit<Emergency, 'since'>) => void;
  readonly end: (ehrId: string) => void;
} {
  const queries = useQueryClient();
  const anew = (ehrId: string): void => {
    void queries.resetQueries({ predicate: ({ queryKey }) => queryKey.includes(ehrId) });
  };
  return {
    begin: (ehrId, stated) => {
      emergencies.begin(ehrId, { ...stated, since: new Date().toISOString() });
      anew(ehrId);
    },
    end: (ehrId) => {
      emergencies.end(ehrId);
      anew(ehrId);
    },
  };
}
