/** The forms of a COMPOSITION (docs/spec/rest.md#media-types). */
export type ContentFormat = 'JSON' | 'XML' | 'FLAT' | 'STRUCTURED';

/** Every form a body can have; `WEB_TEMPLATE` is JSON, `TEXT` plain text (OPT, AQL), `NDJSON` and `CSV` query results. */
export type BodyFormat = ContentFormat | 'WEB_TEMPLATE' | 'TEXT' | 'NDJSON' | 'CSV';
