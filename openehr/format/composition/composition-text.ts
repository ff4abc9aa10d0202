import type { JsonObject } from '../../base/json.js';
import type { CompiledTemplate } from '../../template/compile.js';
import { toXml } from '../canonical-xml.js';
import { writeFlat } from '../flat/write.js';
import type { BodyFormat } from '../body-format.js';
import { flatToStructured } from './structured.js';

/**
 * A COMPOSITION as text in any of its forms. `template`: for FLAT and STRUCTURED; null is enough for the others.
 * @throws not-acceptable as `toXml`
 */
export function compositionText(
  composition: JsonObject,
  form: BodyFormat,
  template: CompiledTemplate | null,
): string {
  if (form === 'XML') return toXml(composition, 'composition');
  if (template === null || form === 'JSON') return JSON.stringify(composition);
  const flat = writeFlat(composition, template);
  return JSON.stringify(form === 'STRUCTURED' ? flatToStructured(flat) : flat);
}
