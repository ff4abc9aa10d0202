import type { Random } from '../random.js';
import { element, node, terms } from './opt-builder.js';
import {
  attributeIn,
  elementOf,
  fragment,
  insert,
  isArchetypeRoot,
  remove,
  setInterval,
  textOf,
  walk,
  type OptElement,
} from './opt-tree.js';

/** A change of the tree of a template; false: there was nothing to change. */
type Edit = (template: OptElement, random: Random) => boolean;

interface Place {
  readonly element: OptElement;
  readonly around: readonly OptElement[];
}

function place(template: OptElement, random: Random, isWanted: (place: Place) => boolean): Place | null {
  const definition = elementOf(template, 'definition');
  const places = definition === undefined ? [] : walk(definition, [template]).filter(isWanted);
  return places.length === 0 ? null : random.pick(places);
}

const named =
  (...names: readonly string[]) =>
  ({ element: { name } }: Place): boolean =>
    names.includes(name);

/** An object below the root. */
const isObject = ({ element: { name }, around }: Place): boolean => name === 'children' && around.length > 2;

const holderOf = ({ around }: Place): OptElement => around.at(-1)!;

const archetypeOf = ({ element: own, around }: Place): OptElement =>
  [...around, own].findLast(isArchetypeRoot)!;

const COUNTS = ['0..1', '0..*', '1..1', '1..*', '0..2', '2..3', '0..0'];
const NUMBERS = ['0..10', '0..*', '5..5', '*..100', '1..1000', '0..750', '-5..5'];
const PATTERNS: Readonly<Record<string, readonly string[]>> = {
  C_STRING: ['[a-z]+', 'a.*', '.*', 'openEHR-EHR-ACTION\\..*'],
  C_DATE: ['yyyy-mm-dd', 'yyyy-??-??', 'yyyy-mm-XX'],
  C_TIME: ['HH:MM:SS', 'HH:??:??', 'HH:MM:XX'],
  C_DATE_TIME: ['yyyy-mm-ddTHH:MM:SS', 'yyyy-mm-ddTHH:??:??', 'yyyy-??-??T??:??:??', 'yyyy-mm-ddTXX:XX:XX'],
  C_DURATION: ['PT', 'PYMWDTHMS', 'PDTH', 'PTHM', 'PYM'],
};
const TYPES = ['DV_TEXT', 'DV_CODED_TEXT', 'DV_COUNT', 'DV_DATE_TIME', 'DV_DATE', 'DV_BOOLEAN', 'DV_URI'];

const EDITS: Readonly<Record<string, Edit>> = {
  occurrences: (template, random) => {
    const found = place(
      template,
      random,
      (each) => isObject(each) && elementOf(each.element, 'occurrences') !== undefined,
    );
    if (found === null) return false;
    setInterval(elementOf(found.element, 'occurrences'), random.pick(COUNTS));
    return true;
  },
  existence: (template, random) => {
    const found = place(template, random, named('existence'));
    if (found === null) return false;
    setInterval(found.element, random.pick(['0..1', '1..1']));
    return true;
  },
  cardinality: (template, random) => {
    const found = place(template, random, named('interval'));
    if (found === null) return false;
    setInterval(found.element, random.pick(COUNTS.slice(1, 6)));
    return true;
  },
  range: (template, random) => {
    const found = place(
      template,
      random,
      (each) =>
        named('magnitude', 'precision', 'range')(each) && /^-?[\d.]*$/.test(textOf(each.element, 'lower')),
    );
    if (found === null) return false;
    setInterval(found.element, random.pick(NUMBERS));
    return true;
  },
  'new range': (template, random) => {
    const found = place(template, random, ({ element: item }) =>
      ['C_INTEGER', 'C_REAL'].includes(item.attributes['xsi:type'] ?? ''),
    );
    if (found === null || elementOf(found.element, 'range') !== undefined) return false;
    const [range] = fragment('<range><lower_included>true</lower_included></range>');
    setInterval(range, random.pick(NUMBERS));
    found.element.children.unshift(range!);
    return true;
  },
  listed: (template, random) => {
    const found = place(template, random, named('code_list', 'list'));
    if (found === null) return false;
    const holder = holderOf(found);
    if (random.chance(0.5)) remove(holder, found.element);
    else if (found.element.name === 'code_list')
      holder.children.push(
        ...fragment(`<code_list>${random.pick(['at0001', 'at0002', 'at9998', '433'])}</code_list>`),
      );
    else if (elementOf(found.element, 'units') !== undefined)
      holder.children.push(...fragment(`<list><units>${random.pick(['kg', 'mm', 'x2'])}</units></list>`));
    else return false;
    return true;
  },
  pattern: (template, random) => {
    const found = place(
      template,
      random,
      ({ element: item }) => (item.attributes['xsi:type'] ?? '') in PATTERNS,
    );
    if (found === null) return false;
    const pattern = elementOf(found.element, 'pattern');
    if (pattern !== undefined) remove(found.element, pattern);
    const texts = PATTERNS[found.element.attributes['xsi:type'] ?? ''] ?? [];
    if (random.chance(0.8))
      found.element.children.unshift(...fragment(`<pattern>${random.pick(texts)}</pattern>`));
    return true;
  },
  removed: (template, random) => {
    const found = place(template, random, isObject);
    if (found === null) return false;
    remove(holderOf(found), found.element);
    return true;
  },
  'attribute removed': (template, random) => {
    const found = place(template, random, (each) => named('attributes')(each) && each.around.length > 2);
    if (found === null) return false;
    remove(holderOf(found), found.element);
    return true;
  },
  added: (template, random) => {
    const found = place(
      template,
      random,
      (each) => named('attributes')(each) && textOf(each.element, 'rm_attribute_name') === 'items',
    );
    if (found === null || textOf(holderOf(found), 'rm_type_name') === 'SECTION') return false;
    const value = random.pick([node(random.pick(TYPES)), '', node('DV_TEXT') + node('DV_COUNT')]);
    insert(found.element, fragment(element('at0909', value, random.pick(COUNTS))));
    archetypeOf(found).children.push(...fragment(terms({ at0909: 'Added' })));
    return true;
  },
  moved: (template, random) => {
    const isItem = (each: Place): boolean =>
      isObject(each) &&
      textOf(holderOf(each), 'rm_attribute_name') === 'items' &&
      !isArchetypeRoot(each.element);
    const from = place(template, random, isItem);
    if (from === null || textOf(from.element, 'rm_type_name') !== 'ELEMENT') return false;
    const to = place(
      template,
      random,
      (each) =>
        isObject(each) &&
        textOf(each.element, 'rm_type_name') === 'CLUSTER' &&
        archetypeOf(each) === archetypeOf(from),
    );
    if (to === null || isArchetypeRoot(to.element)) return false;
    try {
      insert(attributeIn(to.element, 'items'), [from.element]);
    } catch {
      return false;
    }
    remove(holderOf(from), from.element);
    return true;
  },
  type: (template, random) => {
    const found = place(
      template,
      random,
      (each) => isObject(each) && textOf(each.around.at(-2), 'rm_type_name') === 'ELEMENT',
    );
    if (found === null) return false;
    const [other] = fragment(node(random.pick(TYPES)));
    const { children } = holderOf(found);
    children[children.indexOf(found.element)] = other!;
    return true;
  },
  alternative: (template, random) => {
    const found = place(
      template,
      random,
      (each) => named('attributes')(each) && textOf(each.element, 'rm_attribute_name') === 'value',
    );
    if (found === null || textOf(holderOf(found), 'rm_type_name') !== 'ELEMENT') return false;
    insert(found.element, fragment(node(random.pick(TYPES))));
    return true;
  },
  twin: (template, random) => {
    const found = place(
      template,
      random,
      (each) => isObject(each) && textOf(holderOf(each), 'rm_attribute_name') === 'items',
    );
    if (found === null) return false;
    insert(holderOf(found), [structuredClone(found.element)]);
    return true;
  },
  node_id: (template, random) => {
    const found = place(
      template,
      random,
      (each) => isObject(each) && /^at\d/.test(textOf(each.element, 'node_id')),
    );
    if (found === null || isArchetypeRoot(found.element)) return false;
    elementOf(found.element, 'node_id')!.children = ['at0908'];
    archetypeOf(found).children.push(...fragment(terms({ at0908: 'Another' })));
    return true;
  },
  term: (template, random) => {
    const found = place(
      template,
      random,
      (each) => named('items')(each) && each.element.attributes['id'] === 'text',
    );
    if (found === null) return false;
    found.element.children = [random.pick(['Renamed', 'Other', 'A name'])];
    return true;
  },
  'term removed': (template, random) => {
    const found = place(template, random, named('term_definitions'));
    if (found === null) return false;
    remove(holderOf(found), found.element);
    return true;
  },
  slot: (template, random) => {
    const found = place(template, random, named('includes', 'excludes'));
    if (found === null) return false;
    remove(holderOf(found), found.element);
    return true;
  },
};

/** Changes the tree of a template in one way or a few. Gives what was done. */
export function editRandomly(template: OptElement, random: Random): string[] {
  const done: string[] = [];
  for (const name of random.list(1, 3, () => random.pick(Object.keys(EDITS))))
    if (EDITS[name]!(template, random)) done.push(name);
  return done;
}
