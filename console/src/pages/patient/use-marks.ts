import { useQuery } from '@tanstack/react-query';
import { useApi, useOffice, useOwnEhr, useSession } from '../../session/session.js';

/** What somebody may do about the restrictions of a record. */
interface MarkRights {
  readonly mayRead: boolean;
  readonly maySet: boolean;
  /** Whether it is his own record. */
  readonly isOwn: boolean;
  /** Whether he may restrict processing itself. */
  readonly isAdmin: boolean;
}

/** What the user may do about the restrictions of a record; nothing where there are none. */
export function useMarkRights(ehrId: string): MarkRights {
  const { settings } = useSession();
  const office = useOffice();
  const isOwn = useOwnEhr() === ehrId;
  const isAdmin = office?.isAdmin === true;
  const isOn = settings.access_mode !== 'off';
  return {
    mayRead: isOn && (isAdmin || isOwn || office?.mayAudit === true),
    maySet: isOn && (isAdmin || isOwn),
    isOwn,
    isAdmin,
  };
}

/** The restrictions of a record, also those that were lifted; of whoever may not know them nothing is asked. */
export function useMarks(ehrId: string) {
  const api = useApi();
  const { mayRead } = useMarkRights(ehrId);
  return useQuery({
    queryKey: ['marks', ehrId],
    queryFn: () => api.marks(ehrId),
    enabled: mayRead,
    // Each look is recorded.
    staleTime: Infinity,
  });
}
