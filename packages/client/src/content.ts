import type { COMPOSITION } from '../../rm/src/generated/types.js';

/** FLAT: paths of the web template with their values. */
export type Flat = Readonly<Record<string, string | number | boolean | null>>;

/** STRUCTURED: the same as a tree. */
export interface Structured {
  readonly [member: string]: unknown;
}

/** A COMPOSITION in any form: canonical JSON, FLAT, STRUCTURED, or canonical XML as text. */
export type CompositionContent = COMPOSITION | Flat | Structured | string;

/** The form of a COMPOSITION. */
export type CompositionFormat = 'JSON' | 'XML' | 'FLAT' | 'STRUCTURED';

/** What each form is read as. */
export interface ContentByFormat {
  JSON: COMPOSITION;
  XML: string;
  FLAT: Record<string, string | number | boolean>;
  STRUCTURED: Record<string, unknown>;
}

const TYPES: Readonly<Record<CompositionFormat, string>> = {
  JSON: 'application/json',
  XML: 'application/xml',
  FLAT: 'application/openehr.wt.flat+json',
  STRUCTURED: 'application/openehr.wt.structured+json',
};

/** The media type of a form. */
export function mediaTypeOf(format: CompositionFormat): string {
  return TYPES[format];
}

/** The form that content is in: text is XML, `_type` says canonical, objects as members STRUCTURED, else FLAT. */
export function formatOf(content: CompositionContent): CompositionFormat {
  if (typeof content === 'string') return content.trimStart().startsWith('{') ? 'JSON' : 'XML';
  if ('_type' in content) return 'JSON';
  return Object.values(content).some((value) => typeof value === 'object' && value !== null)
    ? 'STRUCTURED'
    : 'FLAT';
}
