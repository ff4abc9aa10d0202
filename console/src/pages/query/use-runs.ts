import { useMutation } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import type { Explanation, QueryRequest, ResultSet } from '../../api/types.js';
import { useApi } from '../../session/session.js';

/** Rows with the question and when they came. */
export interface AnsweredRows {
  readonly result: ResultSet;
  readonly ms: number;
  readonly asked: QueryRequest;
  readonly at: string;
}

/** What was asked last, and its answers as far as they are there: rows, and how they are found. */
export interface Runs {
  readonly run: (request: QueryRequest) => void;
  readonly explain: (request: QueryRequest) => void;
  /** Ends what is under way; the server ends it too. */
  readonly cancel: () => void;
  readonly isRunning: boolean;
  readonly error: Error | null;
  /** Text of the last question. */
  readonly asked: string | undefined;
  readonly rows: AnsweredRows | undefined;
  readonly explanation: Explanation | undefined;
  /** Which of both was asked last. */
  readonly last: 'rows' | 'explain' | null;
}

/** Runs and explains queries, one at a time; who leaves the page cancels. */
export function useRuns(): Runs {
  const api = useApi();
  const underWay = useRef<AbortController>(null);
  const begin = (): AbortSignal => {
    underWay.current?.abort();
    underWay.current = new AbortController();
    return underWay.current.signal;
  };
  const rows = useMutation({
    mutationFn: async (request: QueryRequest) => {
      const start = performance.now();
      const result = await api.query(request, begin());
      const ms = performance.now() - start;
      return { result, ms, asked: request, at: new Date().toISOString() };
    },
  });
  const explanation = useMutation({
    mutationFn: (request: QueryRequest) => api.explain(request, begin()),
  });
  useEffect(() => () => underWay.current?.abort(), []);
  const last = explanation.submittedAt > rows.submittedAt ? explanation : rows;
  return {
    run: (request) => {
      // How another text is found says nothing about these rows.
      if (explanation.variables?.q !== request.q) explanation.reset();
      rows.mutate(request);
    },
    explain: (request) => {
      if (rows.variables?.q !== request.q) rows.reset();
      explanation.mutate(request);
    },
    cancel: () => {
      underWay.current?.abort();
      last.reset();
    },
    isRunning: last.isPending,
    error: last.error,
    asked: last.variables?.q,
    rows: rows.data,
    explanation: explanation.data,
    last: last.isIdle ? null : last === explanation ? 'explain' : 'rows',
  };
}
