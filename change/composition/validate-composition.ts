import type { Violation } from '../../openehr/base/violation.js';
import { tryHere } from '../../openehr/base/work.js';
import type { PartialRm } from '../../openehr/rm/model/rm.js';
import { revisionInUse, revisionText, type RevisionText } from '../../models/definition/revision-in-use.js';
import { someTemplateIds, templateInUse, type TemplateInUse } from '../../models/definition/template.js';
import { revisionDigest } from '../../models/definition/template-revision.js';
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
import { revisionNotFound, templateNotFound } from '../commit/refusal.js';
import type { TemplateOfEntry, VersionMetadata } from '../commit/request.js';
import { valueSetViolations } from '../terminology/value-sets.js';

/** A COMPOSITION that may be committed. */
export interface ValidatedComposition {
  /** Canonical JSON; of a prepared one the root only. */
  readonly object: PartialRm<'COMPOSITION'>;
  readonly prepared?: PreparedContent;
  readonly composition: TemplateOfEntry;
  /** As VERSIONs note it. */
  readonly templateDigest?: string;
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
  if (template === null) throw await notThere(context, templateId);
  const { formerTexts } = template;
  const all = formerTexts === undefined ? rules : { ...rules, formerTexts };
  const judge = (): ContentValidation => validateContent(object, template.compiled, all);
  const { work } = context;
  const judged = work === undefined ? { value: judge() } : tryHere(work.budget, judge);
  if (judged === null && work !== undefined) {
    const large = await work.readElsewhere({ json: JSON.stringify(object), leavesOut: false });
    return validateLarge(context, large, rules);
  }
  const validated = judged?.value ?? judge();
  await requireNoViolations(context, validated);
  return {
    object,
    accepted: validated.accepted,
    composition: templateOfEntry(object, template),
    // Of a template that has several each VERSION says which one it was, whatever the setting is now.
    ...((context.settings.templateRevisions || context.pin !== undefined || formerTexts !== undefined) && {
      templateDigest: template.digest,
    }),
  };
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
  if (doc === null) throw await notThere(context, templateId);
  const validated = await content.validate(templateText(doc), rules, context.settings.aql.leafIndex);
  await requireNoViolations(context, validated);
  if (validated.prepared === null) throw new TypeError('a COMPOSITION without violations is prepared');
  const { _id: storedId, revision, created_timestamp: createdTimestamp, used, earlierId } = doc;
  const template = {
    storedId,
    revision,
    createdTimestamp,
    used,
    ...(earlierId !== undefined && { earlierId }),
  };
  return {
    object: root,
    accepted: validated.accepted,
    prepared: validated.prepared,
    composition: templateOfEntry(root, template),
    ...((context.settings.templateRevisions || context.pin !== undefined || doc.earlier.length > 0) && {
      templateDigest: revisionDigest(doc.opt),
    }),
  };
}

async function notThere({ pin }: ChangeContext, templateId: string): Promise<Error> {
  if (pin?.templateId === templateId) return revisionNotFound(templateId, pin.revision, 'unprocessable');
  return templateNotFound(templateId, 'unprocessable', await someTemplateIds());
}

/** The text of a stored template for another thread. */
export function templateText({
  _id,
  revision,
  created_timestamp: time,
  opt,
  earlier,
}: RevisionText): TemplateText {
  return { key: JSON.stringify([_id, revision, time]), opt, ...(earlier.length > 0 && { earlier }) };
}

function templateFor(
  { templates, work, pin }: ChangeContext,
  templateId: string,
): Promise<TemplateInUse | null> {
  const isPinned = pin?.templateId === templateId;
  const known =
    templates?.get(templateId) ??
    (isPinned
      ? revisionInUse(templateId, pin.revision, work?.compile)
      : templateInUse(templateId, work?.compile));
  templates?.set(templateId, known);
  return known;
}

function textFor({ templateTexts, pin }: ChangeContext, templateId: string): Promise<RevisionText | null> {
  const revision = pin?.templateId === templateId ? pin.revision : null;
  const known = templateTexts?.get(templateId) ?? revisionText(templateId, revision);
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
