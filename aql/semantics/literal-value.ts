import { parseDate, parseDateTime, parseDuration, parseTime } from '../../openehr/base/iso8601.js';
import type { CodeItem, Literal } from '../syntax/ast.js';
import type { Domain } from './scope-types.js';

const BASIC = { basic: true };

/** A literal in a domain, null when it is no value of that domain. */
export function literalIn(domain: Domain, item: Literal | CodeItem): string | number | boolean | null {
  switch (item.kind) {
    case 'integer':
    case 'real':
      return domain === 'number' ? item.value : null;
    case 'boolean':
      return domain === 'boolean' ? item.value : null;
    case 'code':
      return domain === 'text' ? item.code : null;
    case 'string':
      return TEXT_READERS[domain](item.value);
    case 'null':
      return null;
  }
}

const TEXT_READERS: Readonly<Record<Domain, (text: string) => string | number | null>> = {
  text: (text) => text,
  instant: (text) => parseDateTime(text, BASIC)?.lower ?? null,
  date: (text) => parseDate(text, BASIC)?.lower ?? null,
  time: (text) => parseTime(text, BASIC)?.lower ?? null,
  duration: (text) => parseDuration(text)?.totalSeconds ?? null,
  number: () => null,
  boolean: () => null,
};
