import { ATTRIBUTE_DESCRIPTIONS, CLASS_DESCRIPTIONS } from '../../openehr/rm/model/descriptions.js';
import { attributesOf, concreteClasses, isPrimitive, RM_CLASSES } from '../../openehr/rm/model/classes.js';
import type { RmAttribute, RmClass } from '../../openehr/rm/model/define.js';

const HEAD =
  '// Made from the class table of the reference model by `npm run generate`: change that, not this.\n';

/** TypeScript types of the reference model, one for each class: the text of `packages/rm/src/generated/types.ts`. */
export function rmTypesText(): string {
  const concrete = RM_CLASSES.filter((rmClass) => !rmClass.abstract);
  return [
    HEAD,
    ...RM_CLASSES.map((rmClass) => (rmClass.abstract ? unionText(rmClass) : interfaceText(rmClass))),
    '/** Every class by name; of one with descendants any of them. */',
    `export interface RmClasses {\n${RM_CLASSES.map(({ name }) => `${name}: ${anyOf(name)};`).join('\n')}\n}`,
    '/** The name of a class that has instances: what `_type` can be. */',
    `export type RmTypeName = ${concrete.map(({ name }) => `'${name}'`).join(' | ')};`,
  ].join('\n');
}

/** The parent of each class: the text of `packages/rm/src/generated/parents.ts`. */
export function rmParentsText(): string {
  const members = RM_CLASSES.map(
    ({ name, parent }) => `${name}: ${parent === null ? 'null' : `'${parent}'`},`,
  );
  return [
    HEAD,
    '/** The class that each class of the reference model inherits from. */',
    `export const PARENTS = {\n${members.join('\n')}\n} as const;`,
  ].join('\n');
}

function anyOf(name: string): string {
  const classes = concreteClasses(name);
  return classes.length === 0 ? 'never' : classes.join(' | ');
}

function unionText({ name }: RmClass): string {
  return `/** ${CLASS_DESCRIPTIONS[name] ?? name}. */\nexport type ${name} = ${anyOf(name)};`;
}

function interfaceText({ name }: RmClass): string {
  const attributes = [...attributesOf(name).values()].map((attribute) => memberText(name, attribute));
  return [
    `/** ${CLASS_DESCRIPTIONS[name] ?? name}. */`,
    `export interface ${name} {`,
    `_type: '${name}';`,
    ...attributes,
    '}',
  ].join('\n');
}

function memberText(owner: string, attribute: RmAttribute): string {
  const { name, required } = attribute;
  const description = ATTRIBUTE_DESCRIPTIONS[`${owner}.${name}`] ?? ATTRIBUTE_DESCRIPTIONS[name];
  const comment = description === undefined ? '' : `/** ${description}. */\n`;
  return `${comment}${name}${required ? '' : '?'}: ${typeText(attribute)}${required ? '' : ' | undefined'};`;
}

function typeText({ type, multiple }: RmAttribute): string {
  const one = isPrimitive(type) ? primitiveText(type) : classText(type);
  if (!multiple) return one;
  return one.includes('|') ? `(${one})[]` : `${one}[]`;
}

/** An abstract class is a union by its own name; a concrete one with descendants is written out. */
function classText(type: string): string {
  const isAbstract = RM_CLASSES.some(({ name, abstract }) => name === type && abstract);
  return isAbstract ? type : anyOf(type);
}

function primitiveText(type: string): string {
  if (type === 'Boolean') return 'boolean';
  return ['Integer', 'Integer64', 'Real'].includes(type) ? 'number' : 'string';
}
