import type { DetailedError, PolicyToJsonAnswer, ValidationAnswer } from '@cedar-policy/cedar-wasm/nodejs';
import { isCategory, noCategory, type CategoryMap } from './categories.js';
import { cedar } from './cedar.js';
import { namedCategories } from './named-categories.js';
import { placeAt, placeOf, placeOfByte, type Place } from './place.js';
import { EMERGENCY, leastPatients, translatedPolicy, type Policy } from './policy.js';
import type { PolicyJson } from './policy-json.js';
import { CEDAR_SCHEMA } from './schema.js';
import { NoTranslation } from './terms.js';

/** What is said of the text of a policy. */
export interface PolicyFinding extends Partial<Place> {
  /** `syntax`: it cannot be read; `schema`: it names what is not there; `translation`: it cannot be asked of stored objects; `advice`: it holds all the same. */
  readonly kind: 'syntax' | 'schema' | 'translation' | 'advice';
  readonly message: string;
}

/** A text of a policy that was read. */
type ReadPolicy =
  | { readonly policy: Policy; readonly json: PolicyJson; readonly findings: readonly PolicyFinding[] }
  /** It cannot hold, and the findings say why. */
  | { readonly policy: null; readonly findings: readonly PolicyFinding[] };

/** Characters of the text of one policy. */
export const MAX_POLICY_LENGTH = 10_000;
/** Brackets inside each other, operators in a row: what reads a policy goes as deep. */
export const MAX_POLICY_DEPTH = 40;
/** Operators of one policy. */
export const MAX_POLICY_OPERATORS = 500;

/**
 * Reads, checks and translates the text of one policy. `categories`: the map that those it names must be in; absent: it is not asked.
 * docs/access.md#policies
 */
export async function readPolicy(id: string, text: string, categories?: CategoryMap): Promise<ReadPolicy> {
  const [read] = await readPolicies([{ id, policy: text }], categories);
  if (read === undefined) throw new TypeError('what is read is answered');
  return read;
}

/** The same of several, in their order: the schema, which takes longest, is read once. */
export async function readPolicies(
  texts: readonly { readonly id: string; readonly policy: string }[],
  categories?: CategoryMap,
): Promise<readonly ReadPolicy[]> {
  const { policyToJson, validate } = await cedar();
  const parsed = texts.map(({ policy: text }): ParsedText => {
    const oversize = oversizeOf(text);
    if (oversize !== null) return { text, findings: [{ kind: 'syntax', message: oversize }], json: null };
    const read = policyToJson(text);
    if (read.type === 'failure') return { text, findings: syntaxFindings(text, read), json: null };
    return { text, findings: [], json: read.json as unknown as PolicyJson };
  });
  const numbered = parsed.flatMap(({ text, json }, index) => (json === null ? [] : [[String(index), text]]));
  const staticPolicies = Object.fromEntries(numbered) as Record<string, string>;
  const validated = validate({ schema: CEDAR_SCHEMA, policies: { staticPolicies } });
  return parsed.map((each, index) =>
    judged(texts[index]?.id ?? '', each, { validated: ofPolicy(validated, String(index)), categories }),
  );
}

interface ParsedText {
  readonly text: string;
  readonly findings: readonly PolicyFinding[];
  readonly json: PolicyJson | null;
}

/** What a text is judged by. */
interface Judging {
  readonly validated: ValidationAnswer;
  readonly categories: CategoryMap | undefined;
}

function judged(
  id: string,
  { text, findings, json }: ParsedText,
  { validated, categories }: Judging,
): ReadPolicy {
  if (json === null) return refused(findings);
  const { errors, advice } = schemaFindings(text, validated);
  errors.push(...emergencyFindings(text, json), ...countsFindings(text, json));
  if (categories !== undefined) errors.push(...categoryFindings(text, json, categories));
  if (errors.length > 0) return refused([...errors, ...advice]);
  try {
    return { policy: translatedPolicy(id, json), json, findings: advice };
  } catch (error) {
    if (!(error instanceof NoTranslation)) throw error;
    const { message, expression } = error;
    return refused([{ kind: 'translation', message, ...placeOf(text, json, expression) }, ...advice]);
  }
}

/** What a policy asks for that is no category: it would restrict nothing, or permit nothing, without a word. docs/access.md#categories */
export function categoryFindings(text: string, json: PolicyJson, map: CategoryMap): PolicyFinding[] {
  return namedCategories(json)
    .filter(({ name }) => !isCategory(name, map))
    .map(({ name, part }) => ({
      kind: 'schema',
      message: noCategory(name, map),
      ...placeOf(text, json, part),
    }));
}

/** An annotation that says something else would be taken for one that says it. */
function emergencyFindings(text: string, { effect, annotations = {} }: PolicyJson): PolicyFinding[] {
  if (!Object.hasOwn(annotations, 'emergency') || annotations['emergency'] === EMERGENCY[effect]) return [];
  const message = `of a ${effect} the annotation is @emergency("${EMERGENCY[effect]}")`;
  return [annotationFinding(text, /@\s*emergency/, message)];
}

/** Whoever may read or export as well has more than counts; of a forbid nothing is answered. */
function countsFindings(text: string, json: PolicyJson): PolicyFinding[] {
  const { effect, action, annotations = {} } = json;
  if (!Object.hasOwn(annotations, 'counts')) return [];
  const { type, id } = (action.entity ?? {}) as { readonly type?: string; readonly id?: string };
  const isQuery = action.op === '==' && type === 'Action' && id === 'query';
  if (effect === 'permit' && isQuery && leastPatients(json) !== null) return [];
  const message =
    'the annotation @counts("10") is of a permit for action == Action::"query" alone, and says of how many patients a count is, from 2 to 999999';
  return [annotationFinding(text, /@\s*counts/, message)];
}

function annotationFinding(text: string, annotation: RegExp, message: string): PolicyFinding {
  return { kind: 'schema', message, ...placeAt(text, Math.max(0, text.search(annotation))) };
}

/** What is said of one of the policies. */
function ofPolicy(answer: ValidationAnswer, id: string): ValidationAnswer {
  if (answer.type === 'failure') return answer;
  const of = ({ policyId }: { readonly policyId: string }): boolean => policyId === id;
  return {
    ...answer,
    validationErrors: answer.validationErrors.filter(of),
    validationWarnings: answer.validationWarnings.filter(of),
  };
}

function refused(findings: readonly PolicyFinding[]): ReadPolicy {
  return { policy: null, findings };
}

/** Why a text is not even looked at. */
function oversizeOf(text: string): string | null {
  if (text.length > MAX_POLICY_LENGTH) return `a policy has at most ${MAX_POLICY_LENGTH} characters`;
  let [depth, deepest, operators] = [0, 0, 0];
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\[^])*"?|\/\/[^\n]*|\bif\b|&&|\|\||[([{)\]}!<>=+*.-]/g)) {
    if ('([{'.includes(token) || token === 'if') depth += 1;
    else if (')]}'.includes(token)) depth -= 1;
    else if (!/^["/]/.test(token)) operators += 1;
    deepest = Math.max(deepest, depth);
  }
  if (deepest > MAX_POLICY_DEPTH) return `brackets and ifs are at most ${MAX_POLICY_DEPTH} inside each other`;
  return operators > MAX_POLICY_OPERATORS
    ? `a policy has at most ${MAX_POLICY_OPERATORS} operators: write several`
    : null;
}

function syntaxFindings(
  text: string,
  { errors }: Extract<PolicyToJsonAnswer, { type: 'failure' }>,
): PolicyFinding[] {
  return errors.map((error) => finding('syntax', text, error));
}

function schemaFindings(
  text: string,
  answer: ValidationAnswer,
): { readonly errors: PolicyFinding[]; readonly advice: PolicyFinding[] } {
  if (answer.type === 'failure')
    return { errors: answer.errors.map((error) => finding('schema', text, error)), advice: [] };
  return {
    errors: answer.validationErrors.map(({ error }) => finding('schema', text, error)),
    advice: answer.validationWarnings.map(({ error }) => finding('advice', text, error)),
  };
}

function finding(kind: PolicyFinding['kind'], text: string, error: DetailedError): PolicyFinding {
  const [at] = error.sourceLocations ?? [];
  const help = error.help === null ? '' : `; ${error.help}`;
  return {
    kind,
    message: `${error.message.replace(/^for policy `\d+`, /, '')}${help}`,
    ...(at !== undefined && placeOfByte(text, at.start)),
  };
}
