import { CdrError } from '../base/errors.js';

/** Refuses an operational template before it is read. `maxBytes`: of UTF-8 (`MAX_TEMPLATE_BYTES`). @throws too-large */
export function requireTemplateSize(opt: string, maxBytes: number): void {
  const bytes = Buffer.byteLength(opt);
  if (bytes > maxBytes)
    throw new CdrError('too-large', `the template has ${bytes} bytes, at most ${maxBytes} are accepted`);
}
