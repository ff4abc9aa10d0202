import { CdrError } from '../../openehr/base/errors.js';
import type { JsonObject } from '../../openehr/base/json.js';
import type { Settings } from '../../config/settings.js';
import { LIFECYCLE, lifecycleStateOf, type LifecycleState } from '../../change/commit/codes.js';
import { readObject } from '../../change/content/content.js';
import { noFindings, type AcceptedFinding } from '../../openehr/rm/lenient.js';
import { changeContext, type ChangeContext } from '../../change/commit/context.js';
import { readEnvelope } from '../../change/contribution/contribution-envelope.js';
import { validatedFolder } from '../../change/directory.js';
import { newEhrStatus } from '../../change/ehr-status.js';
import { validateComposition } from '../../change/composition/validate-composition.js';
import { readFlat } from '../../openehr/format/flat/read.js';
import { compiledTemplate } from '../../models/definition/template.js';
import { textAt } from '../../openehr/rm/access.js';
import { contributionOf } from './import-commit.js';
import type { Outcome } from './import-progress.js';
import type { ImportContent, ImportRecord } from './import-source.js';
import { refusal } from './import-run.js';
import { LOCAL_COMMITTER } from './target.js';

/** Validates records as the server would, without writing: content only, not what the EHRs hold already. */
export function validating(
  settings: Settings,
  isLenient: boolean,
): (records: readonly ImportRecord[]) => Promise<Outcome[]> {
  const context = changeContext(settings);
  const now = new Date();
  return async (records) => {
    const outcomes: Outcome[] = [];
    for (const { position, content } of records) {
      try {
        await validate(context, content, { now, isLenient });
        outcomes.push({ position, result: 'imported' });
      } catch (error) {
        outcomes.push(refusal(position, error));
      }
    }
    return outcomes;
  };
}

/** How records are validated. */
interface Manner {
  readonly now: Date;
  readonly isLenient: boolean;
}

async function validate(context: ChangeContext, content: ImportContent, manner: Manner): Promise<void> {
  const findings = noFindings(manner.isLenient);
  switch (content.kind) {
    case 'composition':
      if (content.signed !== null) {
        const lifecycleState = stateOf(content.lifecycleState);
        return validateContribution(
          pinned(context, content),
          contributionOf([{ ...content, lifecycleState }]),
          manner.isLenient,
        );
      }
      return validateOne(pinned(context, content), content.object, { ...content, findings });
    case 'flat': {
      const template = await compiledTemplate(content.templateId);
      if (template === null)
        throw new CdrError(
          'unprocessable',
          `Template with template_id '${content.templateId}' does not exist`,
        );
      return validateOne(context, readFlat(content.object, template, manner), { ...content, findings });
    }
    case 'contribution':
      return validateContribution(context, content.object, manner.isLenient);
    case 'ehr_status':
      newEhrStatus(content.object, { asSent: false, findings });
      return;
    case 'directory':
      validatedFolder(content.object, findings);
  }
}

/** With the revision by which a record is judged. */
function pinned(
  context: ChangeContext,
  { object, revision }: Extract<ImportContent, { kind: 'composition' }>,
): ChangeContext {
  const templateId = textAt(object, 'archetype_details', 'template_id', 'value');
  return revision === null || templateId === undefined
    ? context
    : { ...context, pin: { templateId, revision } };
}

async function validateOne(
  context: ChangeContext,
  object: JsonObject,
  {
    lifecycleState: given,
    findings,
  }: { lifecycleState: string | null; findings: AcceptedFinding[] | undefined },
): Promise<void> {
  const lifecycleState = stateOf(given);
  const read = readObject(object, 'COMPOSITION', findings);
  await validateComposition(context, read, { lifecycleState, findings });
}

function stateOf(given: string | null): LifecycleState {
  return lifecycleStateOf({ code: given ?? LIFECYCLE.complete, rubric: undefined });
}

async function validateContribution(
  context: ChangeContext,
  contribution: JsonObject,
  isLenient: boolean,
): Promise<void> {
  const defaults = {
    committer: LOCAL_COMMITTER,
    onlyCommitter: null,
    description: undefined,
    changeType: undefined,
    lifecycleState: undefined,
    isLenient,
    mayNameAnyInput: true,
    mayImport: true,
  };
  const { versions } = readEnvelope(contribution, context.settings, defaults);
  for (const { data, lifecycleState, findings } of versions) {
    if (data === undefined || typeof data !== 'object' || data === null || Array.isArray(data)) continue;
    if (data._type === 'FOLDER') validatedFolder(data, findings);
    else if (data._type === 'EHR_STATUS') newEhrStatus(data, { asSent: false, findings });
    else {
      const read = readObject(data, 'COMPOSITION', findings);
      await validateComposition(context, read, { lifecycleState, findings });
    }
  }
}
