import { useQuery } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { createApi } from './api/api.js';
import { SessionProvider } from './session/session.js';
import { router } from './shell/router.js';
import { Failure } from './widgets/states.js';

/** The console, once it knows how one signs in. */
export function App(): ReactNode {
  const { data, error, refetch } = useQuery({
    queryKey: ['settings'],
    queryFn: () => createApi({ kind: 'none' }).settings(),
    staleTime: Infinity,
  });
  if (data !== undefined)
    return (
      <SessionProvider settings={data}>
        <RouterProvider router={router} />
      </SessionProvider>
    );
  return error === null ? null : (
    <div className="page">
      <Failure error={error} retry={() => void refetch()} />
    </div>
  );
}
