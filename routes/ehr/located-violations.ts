import type { Context } from 'koa';
import { CdrError } from '../../openehr/base/errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../openehr/base/json.js';
import { groupBy } from '../../openehr/base/maps.js';
import type { Violation } from '../../openehr/base/violation.js';
import { within } from '../../openehr/base/work.js';
import { readFlatOver } from '../../openehr/format/flat/carry-over.js';
import { withFlatPaths, withFormPaths } from '../../openehr/format/flat/violation-key.js';
import { readRm } from '../../openehr/rm/read.js';
import type { CompiledTemplate } from '../../openehr/template/compile.js';
import { templateIdOf } from '../../change/content/content.js';
import { compiledTemplate } from '../../models/definition/template.js';
import { compilingFor } from '../http/request/request-body.js';

/** A body in canonical form, as it was parsed. */
interface CanonicalBody {
  readonly parsed: JsonValue;
  /** What the reference model does not know was left out. */
  readonly isLenient: boolean;
}

/** The body of a CONTRIBUTION as it was parsed. */
interface ContributionBody extends CanonicalBody {
  /** Its COMPOSITIONs are in a simplified form; null: they are canonical. */
  readonly simplified: SimplifiedVersions | null;
}

/** How the simplified COMPOSITIONs of a CONTRIBUTION are read. */
interface SimplifiedVersions {
  readonly templateId: string;
  readonly flatOf: (data: JsonObject) => JsonObject;
}

/** The error with the keys of the FLAT body in its violations. */
export async function locatedInFlat(
  ctx: Context,
  error: unknown,
  flatOf: () => JsonObject,
  templateId: string,
): Promise<unknown> {
  return relocated(error, (found) =>
    keyed(ctx, found, templateId, (template) => withFlatPaths(found, flatOf(), template)),
  );
}

/** The same of a body that was read as a change of what was before: what was kept stands between what was sent. */
export async function locatedInFlatOver(
  ctx: Context,
  error: unknown,
  flatOf: () => JsonObject,
  { templateId, before }: { readonly templateId: string; readonly before: JsonObject },
): Promise<unknown> {
  return relocated(error, (found) =>
    keyed(ctx, found, templateId, (template) =>
      withFormPaths(found, readFlatOver(flatOf(), before, { now: new Date(), template }), template),
    ),
  );
}

/** The error with the keys that a form has for what a canonical COMPOSITION is wrong about, where that can be read. */
export async function locatedInForm(ctx: Context, error: unknown, body: CanonicalBody): Promise<unknown> {
  return relocated(error, (found) => keyedInForm(ctx, found, body));
}

/** The same of each COMPOSITION of a CONTRIBUTION, where it stands in the body as canonical content does. */
export async function locatedInVersions(
  ctx: Context,
  error: unknown,
  body: ContributionBody,
): Promise<unknown> {
  const { simplified } = body;
  return relocated(error, async (violations) => {
    const keys = new Map<Violation, string>();
    for (const [prefix, found] of groupBy(violations, ({ path }) => VERSION_DATA.exec(path)?.[0] ?? null)) {
      const parsed = prefix === null ? null : dataAt(body, prefix);
      if (prefix === null || parsed === null) continue;
      const own = found.map((each) => ({ ...each, path: each.path.slice(prefix.length) || '/' }));
      const located =
        simplified === null
          ? await keyedInForm(ctx, own, { ...body, parsed })
          : await keyed(ctx, own, simplified.templateId, (template) =>
              withFlatPaths(own, simplified.flatOf(parsed), template),
            );
      for (const [index, violation] of found.entries()) {
        const flatPath = located[index]?.flatPath;
        if (flatPath !== undefined) keys.set(violation, flatPath);
      }
    }
    return violations.map((each) => {
      const flatPath = keys.get(each);
      return flatPath === undefined ? each : { ...each, flatPath };
    });
  });
}

const VERSION_DATA = /^\/versions\[(\d+)\]\/data(?=\/|$)/;

/** The COMPOSITION of a version; null when its data are something else. */
function dataAt({ parsed: contribution, simplified }: ContributionBody, prefix: string): JsonObject | null {
  const index = Number(VERSION_DATA.exec(prefix)?.[1]);
  const versions = isJsonObject(contribution) ? contribution.versions : undefined;
  const version = Array.isArray(versions) ? (versions[index] ?? null) : null;
  const data = version !== null && isJsonObject(version) ? (version.data ?? null) : null;
  const type = simplified === null ? 'COMPOSITION' : undefined;
  return data !== null && isJsonObject(data) && data._type === type ? data : null;
}

async function keyedInForm(
  ctx: Context,
  found: readonly Violation[],
  { parsed, isLenient }: CanonicalBody,
): Promise<readonly Violation[]> {
  const leftOut = isLenient ? [] : undefined;
  const { object } = within(ctx.state.work, () => readRm(parsed, 'COMPOSITION', '', leftOut));
  if (object === null) return found;
  return keyed(ctx, found, templateIdOf(object), (template) => withFormPaths(found, object, template));
}

/** The violations with keys; as they are where the template is not there. */
async function keyed(
  ctx: Context,
  found: readonly Violation[],
  templateId: string,
  keysOf: (template: CompiledTemplate) => readonly Violation[],
): Promise<readonly Violation[]> {
  const template = await compiledTemplate(templateId, compilingFor(ctx));
  return template === null ? found : within(ctx.state.work, () => keysOf(template));
}

/** The error with other violations; as it is where it has none. */
async function relocated(
  error: unknown,
  locate: (found: readonly Violation[]) => Promise<readonly Violation[]>,
): Promise<unknown> {
  if (!(error instanceof CdrError) || error.details.violations === undefined) return error;
  const violations = await locate(error.details.violations);
  return new CdrError(error.code, error.message, { ...error.details, violations, cause: error });
}
