import type { QueryRequest } from '../../api/types.js';
import { parameterNames, parameterValue } from './parameters.js';

/** A query as it is sent: with those parameters that have a value, and at most `most` rows where it sets no limit itself. */
export function requestOf({
  text,
  values,
  asOf = '',
  most,
}: {
  readonly text: string;
  readonly values: Readonly<Record<string, string>>;
  /** As an input has it; empty: now. */
  readonly asOf?: string;
  readonly most: number;
}): QueryRequest {
  const given = parameterNames(text).filter((name) => (values[name] ?? '') !== '');
  return {
    q: text,
    ...(given.length > 0 && {
      query_parameters: Object.fromEntries(given.map((name) => [name, parameterValue(values[name] ?? '')])),
    }),
    ...(!/\b(LIMIT|TOP|OFFSET)\b/i.test(text) && { fetch: most }),
    ...(asOf !== '' && { as_of: new Date(asOf).toISOString() }),
  };
}
