import { element, evaluation, multiple, node, root, template } from './opt-builder.js';

/** Archetype of both siblings in `TWINS`. */
export const TWIN_ID = 'openEHR-EHR-CLUSTER.twin.v1';

const twin = (inside: string): string =>
  root(TWIN_ID, multiple('items', inside), { at0000: 'Twin', at0004: 'Text', at0005: 'Count' }, '1..1');

/** A template with two siblings of equal archetype and name, of which each holds another ELEMENT. */
export const TWINS = template(
  evaluation(
    twin(element('at0004', node('DV_TEXT'), '1..1')) + twin(element('at0005', node('DV_COUNT'), '1..1')),
    {},
  ),
  { id: 'twins' },
);
