import { useQuery } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { lazy, Suspense, type ReactNode } from 'react';
import { createApi } from './api/api.js';
import type { ServerSettings } from './api/types.js';
import { providerAnswer } from './session/provider-answer.js';
import { SessionProvider } from './session/session.js';
import { router } from './shell/router.js';

const Failure = lazy(() => import('./widgets/states.js').then((file) => ({ default: file.Failure })));

/** The console, once it knows how one signs in, and who did when a provider sent the user back. */
export function App(): ReactNode {
  const { data, error, refetch } = useQuery({
    queryKey: ['settings'],
    queryFn: () => createApi({ kind: 'none' }).settings(),
    staleTime: Infinity,
  });
  const answer = useProviderAnswer(data);
  if (data !== undefined && !answer.isLoading)
    return (
      <SessionProvider settings={data} first={answer.data ?? null} refusal={answer.error}>
        <RouterProvider router={router} />
      </SessionProvider>
    );
  return error === null ? null : (
    <div className="page">
      <Suspense>
        <Failure error={error} retry={() => void refetch()} />
      </Suspense>
    </div>
  );
}

/** Taken once: a code is good for one token. */
function useProviderAnswer(settings: ServerSettings | undefined) {
  const provider = settings?.oidc ?? null;
  return useQuery({
    queryKey: ['settings', 'provider-answer'],
    queryFn: async () => {
      if (provider === null || providerAnswer === null) return null;
      const { takeAnswer, viewOfRefusal } = await import('./session/provider.js');
      try {
        const { credentials, view } = await takeAnswer(provider, providerAnswer);
        router.history.replace(view);
        return credentials;
      } catch (error) {
        const view = viewOfRefusal(error);
        if (view !== undefined) router.history.replace(view);
        throw error;
      }
    },
    enabled: provider !== null && providerAnswer !== null,
    retry: false,
    staleTime: Infinity,
    gcTime: Infinity,
  });
}
