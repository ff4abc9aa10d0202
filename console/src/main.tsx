// First: an answer of an identity provider is no address of a view.
import './session/provider-answer.js';
import './theme/library.js';
import './theme/theme.css';
import { MantineProvider } from '@mantine/core';
import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './App.js';
import { CdrError } from '@everchart/client';
import { styleNonce } from './csp.js';
import { MessagesProvider } from './messages/messages.js';
import { expiry } from './session/expiry.js';
import { theme } from './theme/theme.js';

const FRESH_MS = 15_000;

const queries = new QueryClient({
  queryCache: new QueryCache({ onError: expiry.see }),
  mutationCache: new MutationCache({ onError: expiry.see }),
  defaultOptions: {
    queries: {
      staleTime: FRESH_MS,
      refetchOnWindowFocus: false,
      // What the server refuses it refuses again; whether it is back is asked elsewhere.
      retry: (count, error) => count < 2 && error instanceof CdrError && error.status === 503,
    },
  },
});

const root = document.getElementById('root');
if (root !== null)
  createRoot(root).render(
    <StrictMode>
      <MantineProvider theme={theme} defaultColorScheme="auto" getStyleNonce={styleNonce}>
        <QueryClientProvider client={queries}>
          <MessagesProvider>
            <App />
          </MessagesProvider>
        </QueryClientProvider>
      </MantineProvider>
    </StrictMode>,
  );
