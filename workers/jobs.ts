/** The program of a worker thread: reads and validates large bodies, translates and evaluates queries. Every export but the types is a job of the pool. */
import { LRUCache } from 'lru-cache';
import type { Violation } from '../openehr/base/violation.js';
import { CdrError } from '../openehr/base/errors.js';
import { within, Work, type Counted, type WorkBudget } from '../openehr/base/work.js';
import { isJsonObject, type JsonObject, jsonObjectOf, jsonOf, type JsonValue } from '../openehr/base/json.js';

import { validateContent, readObject, type CompositionRules } from '../change/content/content.js';
import {
  compositionRoot,
  type CompositionRoot,
  type TemplateText,
} from '../change/content/large-composition.js';
import { withoutAttributes } from '../openehr/rm/access.js';
import type { PartialRm } from '../openehr/rm/model/rm.js';
import { parseJson } from '../openehr/format/canonical-json.js';
import { toXml } from '../openehr/format/canonical-xml.js';
import { bodyFromXml } from '../openehr/format/extract-xml.js';
import { compositionText } from '../openehr/format/composition/composition-text.js';
import type { BodyFormat } from '../openehr/format/body-format.js';
import { readFlatOver } from '../openehr/format/flat/carry-over.js';
import { readFlat } from '../openehr/format/flat/read.js';
import { structuredToFlat } from '../openehr/format/composition/structured.js';
import { deriveContent } from '../aql/index/derive.js';
import type { LeafIndex } from '../aql/index/document.js';
import type { AcceptedFinding } from '../openehr/rm/lenient.js';
import { missingCompositionAttributes } from '../openehr/rm/invariants/validate.js';
import {
  compileTemplate,
  readTemplate,
  type CompiledTemplate,
  type TemplateData,
} from '../openehr/template/compile.js';
import { compareTemplates, type TemplateDifference } from '../openehr/template/difference/difference.js';
import type { ValueSetCode } from '../openehr/template/validate.js';
import { formerTextsOf, type FormerTexts } from '../openehr/template/validate/former-texts.js';
import { evaluateRequest, type EvaluationRequest } from './evaluate.js';
import { translation, type Translation, type TranslationRequest } from './translate.js';
import { answerOf, type Answer, derivedBytes, type DerivedBytes } from './messages.js';

/** A body as a client sent it. */
export interface BodyText {
  readonly text: string;
  readonly isXml: boolean;
  /** RM class of XML. */
  readonly declaredType: string;
  readonly maxNodes: number;
  /** Of XML, as `XmlReading` has it. */
  readonly keepsUnknown?: boolean;
}

/** A COMPOSITION that was parsed, still in the form it was sent in. */
export interface ParsedComposition {
  readonly json: string;
  /** Lenient validation: unknown attributes are left out. */
  readonly leavesOut?: boolean;
  /** Of FLAT and STRUCTURED only. */
  readonly simplified?: {
    readonly isStructured: boolean;
    readonly template: TemplateText;
    /** ms since 1970: what `now` and missing times become. */
    readonly now: number;
    /** JSON of what is changed, of which is kept what the form does not say. */
    readonly previous?: string;
  };
}

/** A COMPOSITION as canonical JSON. */
export interface CompositionText {
  readonly text: string;
  readonly root: CompositionRoot;
  readonly missing: readonly Violation[];
  /** What reading it ignored or replaced. */
  readonly warnings: readonly string[];
  /** What lenient validation left out. */
  readonly leftOut: readonly AcceptedFinding[];
}

/** What a COMPOSITION is validated by. */
export interface ValidateRequest {
  readonly text: string;
  readonly template: TemplateText;
  readonly rules: CompositionRules;
  readonly leafIndex: LeafIndex;
}

/** An object that is to be written in another form. */
export interface WritingRequest {
  /** The object as canonical JSON. */
  readonly json: string;
  readonly form: BodyFormat;
  /** Name of the XML root element. */
  readonly xmlRoot: string;
  /** Of a COMPOSITION in FLAT and STRUCTURED only. */
  readonly template: TemplateText | null;
}

/** Texts of two templates that are compared. */
export interface TemplatePair {
  readonly before: string;
  readonly after: string;
}

/** A job with what is left of the budget of its request. */
type Budgeted<T> = T & { readonly budget: WorkBudget };

/** What validating gives. */
export interface Validation {
  readonly violations: readonly Violation[];
  readonly lacksAttribute: boolean;
  readonly accepted: readonly AcceptedFinding[];
  readonly valueSetCodes: readonly ValueSetCode[];
  /** null when there are violations. */
  readonly prepared: { readonly tail: string; readonly derived: DerivedBytes } | null;
}

/** Each thread keeps so many compiled templates. */
const KEPT_TEMPLATES = 8;

const templates = new LRUCache<string, CompiledTemplate>({ max: KEPT_TEMPLATES });

/** What a job gives, with what it used of the budget of its request. */
export interface Counting<T> {
  readonly value: T;
  readonly used: Readonly<Record<Counted, number>>;
}

function counting<T>(budget: WorkBudget, job: () => T): Answer<Counting<T>> {
  const work = new Work(budget, () => performance.now());
  return answerOf(() => ({ value: within(work, job), used: work.used }));
}

/** Parses a body into JSON text that `JSON.parse` may read without any of the guards of `parseJson`. */
export function parseBody({
  text,
  isXml,
  declaredType,
  budget,
  ...reading
}: Budgeted<BodyText>): Answer<Counting<string>> {
  return counting(budget, () => {
    if (isXml) return JSON.stringify(bodyFromXml(text, declaredType, reading));
    return JSON.stringify(parseJson(text, reading));
  });
}

/** Reads a template. */
export function readOpt({ opt, budget }: Budgeted<{ readonly opt: string }>): Answer<Counting<TemplateData>> {
  return counting(budget, () => readTemplate(opt));
}

/** Compares two templates. */
export function compareOpts({
  before,
  after,
  budget,
}: Budgeted<TemplatePair>): Answer<Counting<TemplateDifference>> {
  return counting(budget, () => compareTemplates(compileTemplate(before), compileTemplate(after)));
}

/** Evaluates a query. */
export function evaluate(request: EvaluationRequest): ReturnType<typeof evaluateRequest> {
  return evaluateRequest(request);
}

/** Translates a query. */
export function translateQuery(request: TranslationRequest): Answer<Translation> {
  return answerOf(() => translation(request));
}

/** Reads a parsed COMPOSITION into its RM type. */
export function readComposition({
  json,
  simplified,
  budget,
  leavesOut = false,
}: Budgeted<ParsedComposition>): Answer<Counting<CompositionText>> {
  return counting(budget, () => {
    const parsed = jsonOf(json);
    const warnings: string[] = [];
    const leftOut: AcceptedFinding[] = [];
    const object = readObject(
      simplified === undefined ? parsed : fromSimplified(parsed, simplified, warnings),
      'COMPOSITION',
      leavesOut ? leftOut : undefined,
    );
    const missing = missingCompositionAttributes(object);
    return { text: JSON.stringify(object), root: compositionRoot(object), missing, warnings, leftOut };
  });
}

/** Validates a COMPOSITION and, when nothing is wrong with it, prepares what is stored of it. */
export function validateComposition({
  text,
  template,
  rules,
  leafIndex,
  budget,
}: Budgeted<ValidateRequest>): Answer<Counting<Validation>> {
  return counting(budget, () => {
    const composition = JSON.parse(text) as PartialRm<'COMPOSITION'>;
    const found = validateContent(composition, compiled(template), rulesFor(template, rules));
    if (found.violations.length > 0) return { ...found, prepared: null };
    const rest = withoutAttributes(composition, ['_type', 'uid']);
    const identity = { _type: 'OBJECT_VERSION_ID', value: '' };
    const derived = derivedBytes(deriveContent({ ...composition, uid: identity }, leafIndex));
    return { ...found, prepared: { tail: JSON.stringify(rest).slice(1), derived } };
  });
}

/** Writes an object in another form. */
export function writeObject({
  json,
  form,
  xmlRoot,
  template,
  budget,
}: Budgeted<WritingRequest>): Answer<Counting<string>> {
  return counting(budget, () => {
    const object = jsonOf(json) as JsonObject;
    if (form === 'XML') return toXml(object, xmlRoot);
    return compositionText(object, form, template === null ? null : compiled(template));
  });
}

function fromSimplified(
  parsed: JsonValue,
  { isStructured, template, now, previous }: NonNullable<ParsedComposition['simplified']>,
  warnings: string[],
): JsonObject {
  if (!isJsonObject(parsed)) throw new CdrError('invalid', 'the body must be an object');
  const flat = isStructured ? structuredToFlat(parsed) : parsed;
  const options = { now: new Date(now), warnings, template: compiled(template) };
  return previous === undefined
    ? readFlat(flat, options.template, options)
    : readFlatOver(flat, jsonObjectOf(previous), options);
}

const formerTexts = new LRUCache<string, FormerTexts>({ max: KEPT_TEMPLATES });

/** The rules with what codes were called by earlier revisions of a template. */
function rulesFor({ key, earlier = [] }: TemplateText, rules: CompositionRules): CompositionRules {
  if (earlier.length === 0) return rules;
  const known = formerTexts.get(key) ?? formerTextsOf(earlier.map((opt) => compileTemplate(opt)));
  formerTexts.set(key, known);
  return { ...rules, formerTexts: known };
}

function compiled({ key, opt }: TemplateText): CompiledTemplate {
  const known = templates.get(key) ?? compileTemplate(opt);
  templates.set(key, known);
  return known;
}
