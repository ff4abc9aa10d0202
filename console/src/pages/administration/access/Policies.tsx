import type { ReactNode } from 'react';
import { useAddress } from '../../../shell/address.js';
import { Failure, Loading } from '../../../widgets/states.js';
import { PolicyList } from './PolicyList.js';
import { PolicyPage } from './PolicyPage.js';
import { usePolicies } from './use-policies.js';

/** All policies, or the one that the address names. */
export function Policies(): ReactNode {
  const { data, error, refetch } = usePolicies();
  const { policy } = useAddress().address;
  if (error !== null) return <Failure error={error} retry={() => void refetch()} />;
  if (data === undefined) return <Loading rows={4} />;
  return policy === undefined ? (
    <PolicyList stored={data} />
  ) : (
    <PolicyPage key={policy} id={policy} stored={data} />
  );
}
