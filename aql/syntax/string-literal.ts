const SIMPLE: Readonly<Record<string, string>> = {
  "'": "'",
  '"': '"',
  '\\': '\\',
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};
const ESCAPE = /\\(?:u([0-9a-fA-F]{4})|([0-3][0-7]{2}|[0-7]{1,2})|([\s\S]))/g;
/** One escape that a string may hold. */
const LEGAL = /\\(?:u[0-9a-fA-F]{4}|[0-7]|['"?*abfnrtv\\])/y;

/** Offset of the first backslash of an illegal escape in the text between the quotes, -1 when all are legal. */
export function illegalEscape(inner: string): number {
  for (let at = inner.indexOf('\\'); at >= 0; at = inner.indexOf('\\', at)) {
    LEGAL.lastIndex = at;
    if (!LEGAL.test(inner)) return at;
    at = LEGAL.lastIndex;
  }
  return -1;
}

/**
 * The value of the text between the quotes. `\*` stays as written; `\?` too in a LIKE pattern, elsewhere it is
 * a question mark (docs/spec/aql.md#lexical-rules).
 */
export function decodeString(inner: string, isPattern: boolean): string {
  if (!inner.includes('\\')) return inner;
  return inner.replace(ESCAPE, (whole, hex?: string, octal?: string, letter?: string) => {
    if (hex !== undefined) return String.fromCharCode(parseInt(hex, 16));
    if (octal !== undefined) return String.fromCharCode(parseInt(octal, 8));
    if (letter === '*' || (letter === '?' && isPattern)) return whole;
    if (letter === '?') return '?';
    return SIMPLE[letter ?? ''] ?? whole;
  });
}

// eslint-disable-next-line no-control-regex -- control characters are what has to be escaped
const UNSAFE = /['\\\u0000-\u001f\u007f\ud800-\udfff]/gu;

/** The value as an AQL string in single quotes; reading it gives the value back. */
export function encodeString(value: string): string {
  const safe = value.replace(UNSAFE, (unit) =>
    unit === "'" || unit === '\\' ? `\\${unit}` : `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return `'${safe}'`;
}
