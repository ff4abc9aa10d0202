import { readFileSync } from 'node:fs';
import type { CompiledTemplate } from '../../../openehr/template/compile.js';
import type { WebTemplateNode } from '../../../openehr/template/web-template/web-template.js';
import { codeSetNames, codeSetsText, oneLine } from './code-sets.js';
import { typeName } from './names.js';
import { templateTypes } from './template-types.js';
import { isInner, planOfNode, rubricsOf } from './template-plan.js';

/** A module of TypeScript: its file name, without path, and its text. */
export interface GeneratedModule {
  readonly fileName: string;
  readonly text: string;
}

type Source = Pick<CompiledTemplate, 'templateId' | 'defaultLanguage' | 'filteredTree'>;

/**
 * The module of a template: types of its data, FLAT and STRUCTURED, with documentation, units and value sets; its codes by
 * name; a builder; functions that make FLAT, STRUCTURED and canonical JSON of data, and one that reads them. The same template gives the
 * same text.
 */
export function templateModule({ templateId, defaultLanguage, filteredTree: tree }: Source): GeneratedModule {
  const type = typeName(templateId);
  const codes = codeSetNames(tree, RESERVED);
  const body = `/** The id to commit FLAT and STRUCTURED with. */
export const TEMPLATE_ID = ${JSON.stringify(templateId)};

${templateTypes(tree, type, { language: defaultLanguage, codes })}
${codeSetsText(codes, defaultLanguage)}const PLAN: TemplatePlan = {
id: TEMPLATE_ID,
language: ${JSON.stringify(defaultLanguage)},
rubrics: ${JSON.stringify(rubricsOf(defaultLanguage))},
root: ${planText(tree)},
};

/** A builder: \`${builderName(type)}({ territory: 'GB', composer_name: 'Ada Moe' })\`, a method for each node, then \`.build()\`. */
export function ${builderName(type)}(ctx: Context = {}): ${type}Builder {
return builderOf(PLAN, ctx) as ${type}Builder;
}

/** Canonical JSON of these data. @throws TypeError naming all that is missing */
export function canonical${type}(data: Plain<${type}>, ctx: Context = {}): Composition {
return toCanonical(PLAN, data, ctx);
}

/** FLAT of these data, to be committed: \`commit(flat${type}(data, { language: 'en', territory: 'GB' }), { template: TEMPLATE_ID })\`. */
export function flat${type}(data: ${type}, ctx: Flat = {}): ${type}Flat {
return toFlat(${JSON.stringify(tree.id)}, PLAN.root, data, ctx) as ${type}Flat;
}

/** STRUCTURED of these data. */
export function structured${type}(data: ${type}, ctx: Flat = {}): ${type}Structured {
return toStructured(toFlat(${JSON.stringify(tree.id)}, PLAN.root, data, ctx)) as unknown as ${type}Structured;
}

/**
 * The data of a COMPOSITION that was read as FLAT or as canonical JSON. What this template does not have is left out of
 * canonical JSON; of FLAT it is below raw keys. They are yours to change, and to commit again.
 */
export function read${type}(composition: object): Draft<${type}> {
if ('_type' in composition) return fromCanonical(PLAN, composition) as Draft<${type}>;
return fromFlat(${JSON.stringify(tree.id)}, PLAN.root, composition as Record<string, unknown>) as Draft<${type}>;
}

/** The forms that values take here. */
export type { Composition, Context, Draft, Flat, Primitive, Raw, Suffixes, Value };
`;
  const text = `${LINTED_BY_NOBODY}// Made from the template ${oneLine(templateId)} by \`everchart codegen templates\`: change that, not this.
${IMPORTS.map(([file, names]) => importText(file, names, body)).join('')}
${body}`;
  return { fileName: `${fileName(templateId)}.ts`, text: indented(text) };
}

/** For linters of those who have the modules: their rules are not ours. */
const LINTED_BY_NOBODY = '/* eslint-disable */\n';

/** What a module may need of those beside it; types say so. */
const IMPORTS: readonly (readonly [file: string, names: readonly string[]])[] = [
  ['builder', ['builderOf', 'type Builder']],
  ['canonical', ['fromCanonical', 'toCanonical', 'type Composition', 'type Context', 'type TemplatePlan']],
  ['codes', ['codeSet']],
  [
    'flat',
    [
      'fromFlat',
      'toFlat',
      'toStructured',
      'type Draft',
      'type Flat',
      'type Listed',
      'type Plain',
      'type Primitive',
    ],
  ],
  ['flat', ['type Raw', 'type RawStructured', 'type Suffixes', 'type UpTo', 'type Value']],
];

/** Names that a module has or imports: no constant of codes may have them. */
const RESERVED: ReadonlySet<string> = new Set([
  'TEMPLATE_ID',
  'PLAN',
  ...IMPORTS.flatMap(([, names]) => names.map((name) => name.replace('type ', ''))),
]);

/** Only what the text says: compilers of strict projects refuse the rest. */
function importText(file: string, names: readonly string[], body: string): string {
  const used = names.filter((name) => new RegExp(`\\b${name.replace('type ', '')}\\b`).test(body));
  return used.length === 0 ? '' : `import { ${used.join(', ')} } from './${file}.js';\n`;
}

/** Two blanks for each brace that is open. */
function indented(text: string): string {
  let depth = 0;
  const lines = text.split('\n').map((line) => {
    const trimmed = line.trimStart();
    if (/^\}/.test(trimmed)) depth -= 1;
    const own =
      trimmed === ''
        ? ''
        : '  '.repeat(depth) + (trimmed.startsWith('* ') || trimmed === '*/' ? ' ' : '') + trimmed;
    if (/\{$/.test(trimmed)) depth += 1;
    return own;
  });
  return lines.join('\n');
}

function planText(node: WebTemplateNode): string {
  const { list, ...more } = planOfNode(node);
  const own = Object.entries({ ...(list === true && { list }), ...more }).map(
    ([name, value]) => `${name}: ${JSON.stringify(value)}`,
  );
  if (!isInner(node)) return `{ ${own.join(', ')} }`;
  const children = node.children
    .map((child) => `${JSON.stringify(child.id)}: ${planText(child)},\n`)
    .join('');
  return `{\n${own.map((text) => `${text},\n`).join('')}of: {\n${children}},\n}`;
}

function builderName(type: string): string {
  return type.charAt(0).toLowerCase() + type.slice(1);
}

/** Names of files that are not those of a template. */
export const RUNTIME_FILES = ['flat.ts', 'values.ts', 'canonical.ts', 'builder.ts', 'codes.ts'] as const;

/** What the modules of all templates share: it depends on nothing. */
export function runtimeModules(): readonly GeneratedModule[] {
  return RUNTIME_FILES.map((fileName) => ({
    fileName,
    text: LINTED_BY_NOBODY + readFileSync(new URL(`./runtime/${fileName}`, import.meta.url), 'utf8'),
  }));
}

/** Letters, digits and `-` only, so that no id leads out of the folder. */
function fileName(templateId: string): string {
  const name = templateId.replace(/[^\p{L}\p{N}]+/gu, '-').replace(/^-|-$/g, '');
  return name === '' || RUNTIME_FILES.some((file) => file === `${name.toLowerCase()}.ts`)
    ? `template-${name}`
    : name;
}

/** How the modules name those beside them: as compiled files, as they are (Node.js that strips types, Deno), or without suffix. */
export type ImportExtension = 'js' | 'ts' | 'none';

/** A module with its imports of the others in that form. */
export function withImportExtension(
  { fileName, text }: GeneratedModule,
  form: ImportExtension,
): GeneratedModule {
  const suffix = form === 'none' ? '' : `.${form}`;
  return { fileName, text: text.replace(/ from '(\.\/[^']+)\.js';/g, ` from '$1${suffix}';`) };
}
