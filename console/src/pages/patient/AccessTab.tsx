import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useApi } from '../../session/session.js';
import { AuditTable } from '../../widgets/AuditTable.js';
import { usePrintNote } from '../../widgets/use-print.js';
import { Failure, Loading } from '../../widgets/states.js';

/** Who has seen or changed this record. */
export function AccessTab({ ehrId }: { readonly ehrId: string }): ReactNode {
  const api = useApi();
  usePrintNote({ of: 'access', ehr_id: ehrId });
  const { data, error } = useQuery({ queryKey: ['access', ehrId], queryFn: () => api.access(ehrId) });
  if (error !== null) return <Failure error={error} />;
  return data === undefined ? <Loading /> : <AuditTable records={data} />;
}
