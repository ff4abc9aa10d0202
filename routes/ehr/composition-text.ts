import type { JsonObject } from '../../openehr/base/json.js';
import { toXml } from '../../openehr/format/canonical-xml.js';
import { writeFlat } from '../../openehr/format/flat/write.js';
import type { BodyType } from '../../openehr/format/media-type.js';
import { flatToStructured } from '../../openehr/format/structured.js';
import type { CompiledTemplate } from '../../openehr/template/opt/compile.js';

/** A COMPOSITION as text in any of its forms. */
export function compositionText(composition: JsonObject, form: BodyType, template: CompiledTemplate): string {
  if (form.format === 'XML') return compositionXml(composition);
  if (form.format === 'FLAT') return JSON.stringify(writeFlat(composition, template));
  if (form.format === 'STRUCTURED') return JSON.stringify(flatToStructured(writeFlat(composition, template)));
  return JSON.stringify(composition);
}

/** A COMPOSITION as canonical XML. */
export function compositionXml(composition: JsonObject): string {
  return toXml(composition, 'composition');
}
