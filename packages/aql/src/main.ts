/* What the package offers; one file for each subject beside this one. */
export { Catalogue, type CatalogueArchetype, type CatalogueNode } from './catalogue.js';
export type { WebTemplate, WebTemplateNode } from './catalogue.js';
export { diagnose, type CheckOptions, type Diagnostic } from './check.js';
export { completions, type Completion } from './complete.js';
export { formatAql } from './format.js';
export { addColumn, addCondition, type Edit } from './insert.js';
export { hoverAt, type Hover } from './hover.js';
export { queryTypes, type QueryTypes, type ValueType } from './query-types.js';
export { parseAql } from '../../../aql/syntax/parse.js';
export { isAqlWord } from '../../../aql/syntax/words.js';
export { tokenize, type Token } from '../../../aql/syntax/lexer.js';
export type { ParsedQuery, Position } from '../../../aql/syntax/ast.js';
export { CdrError } from '../../../openehr/base/errors.js';
