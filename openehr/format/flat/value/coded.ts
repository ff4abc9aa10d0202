import type { JsonObject } from '../../../base/json.js';
import { groupOfAttribute, valueSetOf, codeOf, rubric } from '../../../rm/terminology/openehr.js';
import type { WebTemplateInput, WebTemplateListItem } from '../../../template/web-template/web-template.js';
import type { PlanNode, ReadTarget } from '../plan.js';
import { unknownValue } from './values.js';
import { counted } from '../../../base/work.js';

/** A code with all that goes with it, as far as known. */
export interface CodedValue {
  readonly code: string | undefined;
  readonly value: string | undefined;
  readonly terminology: string | undefined;
}

/** The codes that a node allows. */
interface CodeList {
  readonly items: readonly WebTemplateListItem[];
  readonly terminology: string;
  readonly isOpen: boolean;
}

const NO_ITEMS: readonly WebTemplateListItem[] = [];

/** A CODE_PHRASE. */
export function codePhrase(terminology: string | undefined, code: string | undefined): JsonObject {
  const phrase: JsonObject = { _type: 'CODE_PHRASE' };
  if (terminology !== undefined) phrase.terminology_id = { _type: 'TERMINOLOGY_ID', value: terminology };
  if (code !== undefined) phrase.code_string = code;
  return phrase;
}

/** A DV_CODED_TEXT; parts that are not known are left out. */
export function codedText({ code, value, terminology }: CodedValue): JsonObject {
  const text: JsonObject = { _type: 'DV_CODED_TEXT' };
  if (value !== undefined) text.value = value;
  text.defining_code = codePhrase(terminology, code);
  return text;
}

/** The DV_CODED_TEXT of a code or rubric of the openEHR group of an RM attribute. @throws invalid when unknown */
export function openehrText(attribute: string, rubricOrCode: string, language: string): JsonObject {
  const group = groupOfAttribute(attribute);
  const code = group === null ? null : codeOf(group, rubricOrCode);
  if (group === null || code === null) throw unknownValue(rubricOrCode, 'openehr');
  const value = rubric(group, code, language) ?? rubricOrCode;
  return codedText({ code, value, terminology: 'openehr' });
}

/** The code input of a node, undefined when the template says nothing about its codes. */
export function codeInput(plan: PlanNode | null): WebTemplateInput | undefined {
  return counted(plan?.inputs)?.find((input) => input.suffix === 'code' || input.suffix === undefined);
}

/** The label of a list item in a language, else in that of the template. */
function listItemLabel(item: WebTemplateListItem, language: string): string | undefined {
  return item.localizedLabels?.[language] ?? item.label;
}

/** The item that a text names by its code or, in any language, by its label. */
export function findItem(
  items: readonly WebTemplateListItem[],
  text: string,
): WebTemplateListItem | undefined {
  return (
    counted(items).find((item) => item.value === text) ??
    counted(items).find(
      (item) => item.label === text || Object.values(item.localizedLabels ?? {}).includes(text),
    )
  );
}

/** The only code that a node allows, null when there are several or none. */
export function onlyCode(plan: PlanNode | null, language: string): CodedValue | null {
  const list = codeListOf(plan);
  const [item, ...others] = list?.items ?? [];
  if (list === null || item === undefined || others.length > 0 || list.isOpen) return null;
  return { code: item.value, value: listItemLabel(item, language), terminology: list.terminology };
}

/**
 * Fills in what a coded value leaves open, from the list of the node or the openEHR group of the attribute.
 *
 * @throws invalid when a code or label has to be looked up and is unknown (docs/spec/formats.md#flat-errors)
 */
export function completeCode(given: CodedValue, target: ReadTarget): CodedValue {
  const sought = given.code ?? given.value;
  if (sought === undefined) return given;
  const list = codeListOf(target.plan);
  if (isCompleteCode(given)) return withListedLabel(given, list, target);
  const found = fromList(given, sought, list, target) ?? fromOpenehr(given, sought, target);
  if (found !== null || list === null) return found ?? given;
  const known = { ...given, terminology: given.terminology ?? list.terminology };
  if (isClosed(list, known.terminology) && !isCompleteCode(known))
    throw unknownValue(sought, list.terminology);
  return known;
}

/** The label of the template wins over another one that was given beside a listed code. */
function withListedLabel(given: CodedValue, list: CodeList | null, target: ReadTarget): CodedValue {
  const item = counted(list?.items)?.find((candidate) => candidate.value === given.code);
  if (list === null || item === undefined || !sameTerminology(given.terminology, list.terminology))
    return given;
  return { ...given, value: listedLabel(item, given.value, target) };
}

/** The label to store for a list item: a given one if the template has it in some language, else the template's. */
export function listedLabel(
  item: WebTemplateListItem,
  given: string | undefined,
  { environment }: ReadTarget,
): string | undefined {
  const label = listItemLabel(item, environment.language);
  if (given === undefined || label === undefined || given === item.value || given === label)
    return label ?? given;
  if (item.label === given || Object.values(item.localizedLabels ?? {}).includes(given)) return given;
  environment.warnings.push(
    `the label "${given}" of the code ${item.value} was replaced by that of the template, "${label}"`,
  );
  return label;
}

function fromList(
  given: CodedValue,
  sought: string,
  list: CodeList | null,
  target: ReadTarget,
): CodedValue | null {
  if (list === null || !sameTerminology(given.terminology, list.terminology)) return null;
  const item = findItem(list.items, sought);
  return item === undefined ? null : fromItem(given, list, item, target);
}

/** Whether a list names all codes that a node may have in a terminology. */
function isClosed(list: CodeList, terminology: string): boolean {
  return list.items.length > 0 && !list.isOpen && sameTerminology(terminology, list.terminology);
}

function isCompleteCode({ code, value, terminology }: CodedValue): boolean {
  return code !== undefined && value !== undefined && terminology !== undefined;
}

/** The code that a text without suffix names (code or label), null when the node has no such code. */
export function resolveText(text: string, target: ReadTarget): CodedValue | null {
  const list = codeListOf(target.plan);
  const item = list === null ? undefined : findItem(list.items, text);
  const nothing = { code: undefined, value: undefined, terminology: undefined };
  if (list !== null && item !== undefined) return fromItem(nothing, list, item, target);
  const group = groupOfAttribute(target.attribute);
  if (group === null || codeOf(group, text) === null) return null;
  return fromOpenehr(nothing, text, target);
}

/** Whether any text may stand where the template lists codes. */
export function isOpen(plan: PlanNode | null): boolean {
  return codeListOf(plan)?.isOpen ?? false;
}

/** The terminology that codes of a node have without saying so. */
export function terminologyOf(target: ReadTarget): string | undefined {
  return codeListOf(target.plan)?.terminology ?? valueSetOf(target.attribute)?.terminologyId;
}

function codeListOf(plan: PlanNode | null): CodeList | null {
  const input = codeInput(plan);
  if (input === undefined || (input.list === undefined && input.terminology === undefined)) return null;
  return {
    items: input.list ?? NO_ITEMS,
    terminology: input.terminology ?? 'local',
    isOpen: input.listOpen === true,
  };
}

function fromItem(
  given: CodedValue,
  list: CodeList,
  item: WebTemplateListItem,
  target: ReadTarget,
): CodedValue {
  return {
    code: given.code ?? item.value,
    value: listedLabel(item, given.value, target),
    terminology: given.terminology ?? list.terminology,
  };
}

function fromOpenehr(given: CodedValue, sought: string, target: ReadTarget): CodedValue | null {
  const group = groupOfAttribute(target.attribute);
  if (group === null || !sameTerminology(given.terminology, 'openehr')) return null;
  const code = codeOf(group, sought);
  if (code === null) {
    if (given.code !== undefined && given.value !== undefined) return null;
    throw unknownValue(sought, 'openehr');
  }
  const value = given.value ?? rubric(group, code, target.environment.language) ?? undefined;
  return { code, value, terminology: 'openehr' };
}

function sameTerminology(given: string | undefined, expected: string): boolean {
  return given === undefined || given.toLowerCase() === expected.toLowerCase();
}
