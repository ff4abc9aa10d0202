import type { Violation } from '../../openehr/base/violation.js';
import { tryHere } from '../../openehr/base/work.js';
import type { PartialRm } from '../../openehr/rm/model/rm.js';
import {
  someTemplateIds,
  templateById,
  templateInUse,
  type TemplateDoc,
  type TemplateInUse,
} from '../../models/definition/template.js';
import { accept } from '../../openehr/rm/lenient.js';
import { missingCompositionAttributes } from '../../openehr/rm/invariants/validate.js';
import { isLenient } from '../commit/codes.js';
import {
  validateContent,
  validationError,
  templateIdOf,
  type ContentValidation,
  type CompositionRules,
} from '../content/content.js';
import type { ChangeContext } from '../commit/context.js';
import { LargeComposition, type PreparedContent, type TemplateText } from '../content/large-composition.js';
import { templateNotFound } from '../commit/refusal.js';
import type { TemplateOfEntry, VersionMetadata } from '../commit/request.js';
import { valueSetViolations } from '../terminology/value-sets.js';

/** A COMPOSITION that may be committed. */
export interface ValidatedComposition {
  /** Canonical JSON; of a prepared one the root only. */
  readonly object: PartialRm<'COMPOSITION'>;
  readonly prepared?: PreparedContent;
  readonly composition: TemplateOfEntry;
}

/**
 * Validates a COMPOSITION that was read: root attributes (400), template known (422), then RM, terminology and
 * template rules together (422). Fills the findings of lenient validation.
 * @throws invalid or unprocessable with all violations of the stage
 */
export async function validateComposition(
  context: ChangeContext,
  content: PartialRm<'COMPOSITION'> | LargeComposition,
  { lifecycleState, findings }: Pick<VersionMetadata, 'lifecycleState' | 'findings'>,
): Promise<ValidatedComposition> {
  const { checkRmRules, checkExtraNodes, checkContainerCardinality } = context.settings;
  const lenient = isLenient(lifecycleState);
  const acceptsFindings = findings !== undefined;
  const rules = { checkRmRules, checkExtraNodes, checkContainerCardinality, lenient, acceptsFindings };
  const { accepted, ...validated } =
    content instanceof LargeComposition
      ? await validateLarge(context, content, rules)
      : await validateTree(context, content, rules);
  if (findings !== undefined) for (const finding of accepted) accept(findings, finding);
  return validated;
}

/** With what lenient validation accepted. */
type Accepting = ValidatedComposition & Pick<ContentValidation, 'accepted'>;

async function validateTree(
  context: ChangeContext,
  object: PartialRm<'COMPOSITION'>,
  rules: CompositionRules,
): Promise<Accepting> {
  requireNothingMissing(missingCompositionAttributes(object), rules);
  const templateId = templateIdOf(object);
  const template = await templateFor(context, templateId);
  if (template === null) throw templateNotFound(templateId, 'unprocessable', await someTemplateIds());
  const judge = (): ContentValidation => validateContent(object, template.compiled, rules);
  const { work } = context;
  const judged = work === undefined ? { value: judge() } : tryHere(work.budget, judge);
  if (judged === null && work !== undefined) {
    const large = await work.readElsewhere({ json: JSON.stringify(object), leavesOut: false });
    return validateLarge(context, large, rules);
  }
  const validated = judged?.value ?? judge();
  await requireNoViolations(context, validated);
  return { object, accepted: validated.accepted, composition: templateOfEntry(object, template) };
}

async function validateLarge(
  context: ChangeContext,
  content: LargeComposition,
  rules: CompositionRules,
): Promise<Accepting> {
  const { root, missing } = content;
  requireNothingMissing(missing, rules);
  const templateId = templateIdOf(root);
  const doc = await textFor(context, templateId);
  if (doc === null) throw templateNotFound(templateId, 'unprocessable', await someTemplateIds());
  const validated = await content.validate(templateText(doc), rules, context.settings.aql.leafIndex);
  await requireNoViolations(context, validated);
  if (validated.prepared === null) throw new TypeError('a COMPOSITION without violations is prepared');
  const { _id: storedId, revision, created_timestamp: createdTimestamp, used } = doc;
  const composition = templateOfEntry(root, { storedId, revision, createdTimestamp, used });
  return { object: root, accepted: validated.accepted, prepared: validated.prepared, composition };
}

/** The text of a stored template for another thread. */
export function templateText({ _id, revision, created_timestamp: time, opt }: TemplateDoc): TemplateText {
  return { key: JSON.stringify([_id, revision, time]), opt };
}

function templateFor({ templates, work }: ChangeContext, templateId: string): Promise<TemplateInUse | null> {
  const known = templates?.get(templateId) ?? templateInUse(templateId, work?.compile);
  templates?.set(templateId, known);
  return known;
}

function textFor({ templateTexts }: ChangeContext, templateId: string): Promise<TemplateDoc | null> {
  const known = templateTexts?.get(templateId) ?? templateById(templateId);
  templateTexts?.set(templateId, known);
  return known;
}

/** What tells of which archetype and template a draft is; nothing else has to be there yet. */
const OF_DRAFTS: readonly string[] = [
  '/archetype_node_id',
  '/archetype_details',
  '/archetype_details/template_id',
];

function requireNothingMissing(missing: readonly Violation[], { lenient }: CompositionRules): void {
  const needed = lenient ? missing.filter(({ path }) => OF_DRAFTS.includes(path)) : missing;
  if (needed.length > 0) throw validationError('invalid', needed);
}

async function requireNoViolations(
  { settings, work }: ChangeContext,
  { violations, lacksAttribute, valueSetCodes }: ContentValidation,
): Promise<void> {
  const all = [
    ...violations,
    ...(await valueSetViolations(settings.terminology, valueSetCodes, work?.questionTime())),
  ];
  if (all.length === 0) return;
  throw validationError('unprocessable', all, lacksAttribute ? 'lacking-attribute' : undefined);
}

function templateOfEntry(
  root: PartialRm<'COMPOSITION'>,
  template: TemplateOfEntry['template'],
): TemplateOfEntry {
  const category = root.category?.defining_code?.code_string ?? '';
  return { templateId: templateIdOf(root), category, template };
}
