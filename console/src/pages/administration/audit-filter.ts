import type { AuditFilter } from '@everchart/client';

/** What was typed to narrow the audit; times without a zone are those of the reader. */
export type AuditFields = Partial<
  Readonly<Record<'from' | 'to' | 'user' | 'operation' | 'status' | 'ehrId', string>>
>;

/** What was typed as a filter: what is empty or not yet a status narrows nothing. */
export function auditFilter({ from, to, status, ...texts }: AuditFields): AuditFilter {
  const given = Object.entries(texts).filter(([, text]) => text !== '');
  return {
    ...Object.fromEntries(given),
    ...(isTime(from) && { from: new Date(from).toISOString() }),
    ...(isTime(to) && { to: new Date(to).toISOString() }),
    ...(/^[1-5]\d\d$/.test(status ?? '') && { status: Number(status) }),
  };
}

function isTime(text: string | undefined): text is string {
  return text !== undefined && !Number.isNaN(Date.parse(text));
}
