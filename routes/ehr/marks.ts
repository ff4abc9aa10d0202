import type { Context } from 'koa';
import type { Settings } from '../../config/settings.js';
import { marksOn, setMarks } from '../../change/mark/marks.js';
import { storedCategories } from '../../models/category.js';
import type { MarkEvent } from '../../models/cross-collection/marked-ehrs.js';
import { CdrError } from '../../openehr/base/errors.js';
import { formatUtc } from '../../openehr/base/iso8601.js';
import type { JsonObject } from '../../openehr/base/json.js';
import { categoryNames } from '../../policy/categories.js';
import { auditAbout } from '../http/audit-trail.js';
import { writeText } from '../http/exchange.js';
import { responseBody } from '../http/negotiation/media-type.js';
import type { OperationGroup } from '../http/operation/operation.js';
import { pathParameter, queryParameter } from '../http/parameter-values.js';
import { subjectOf } from '../http/request/subject.js';
import type { AuthenticatedUser } from '../http/request/request-state.js';
import { marksOf } from './mark-request.js';
import { markView } from '../../change/mark/mark-view.js';

const PATH = '/rest/ehrs/{ehr_id}/marks';
const MARKS = 'EhrMarks';

type Mode = Settings['accessMode'];

/** Restrictions and objections of an EHR: docs/access.md#marks */
export function markOperations({ accessMode: mode }: Pick<Settings, 'accessMode'>): OperationGroup {
  return {
    tag: 'Marks',
    description:
      'What restricts an EHR or something in it: restriction of processing, of the patient, objection to research',
    operations: [
      {
        id: 'marks_get',
        discloses: 'whole',
        method: 'GET',
        path: PATH,
        summary: 'List the marks of an EHR: for administrators, auditors, and its patient by his own token',
        access: 'identified',
        audit: 'read',
        parameters: ['history'],
        responses: { 200: { description: 'The oldest first', body: { schema: MARKS, types: 'json' } } },
        errors: [400, 404, 409],
        handle: (ctx) => list(ctx, mode),
      },
      {
        id: 'marks_put',
        discloses: 'whole',
        method: 'PUT',
        path: PATH,
        summary: 'Replace the marks of an EHR; those that are missing are lifted, and stay in its history',
        access: 'identified',
        audit: 'write',
        request: { schema: 'EhrMarksBody', types: 'json' },
        responses: { 200: { description: 'As they hold', body: { schema: MARKS, types: 'json' } } },
        errors: [400, 404, 409, 422],
        handle: (ctx) => put(ctx, mode),
      },
    ],
  };
}

async function list(ctx: Context, mode: Mode): Promise<void> {
  const form = responseBody('json', ctx.get('Accept'));
  const { ehrId, isAdministrator, isOwn, user } = await askingOf(ctx, mode);
  if (!isAdministrator && !isOwn && !user.permissions.has('audit')) throw notAllowed();
  const events = await marksOn(ehrId);
  const isHistory = queryParameter(ctx, 'history');
  ctx.status = 200;
  writeText(ctx, form, JSON.stringify(await answerOf(events, { ehrId, mode, isHistory })));
}

async function put(ctx: Context, mode: Mode): Promise<void> {
  const form = responseBody('json', ctx.get('Accept'));
  const { ehrId, isAdministrator, isOwn, user } = await askingOf(ctx, mode);
  if (!isAdministrator && !isOwn) throw notAllowed();
  const { name: by, subject: sub, issuer: iss } = user;
  const setter = { by: { by, sub, ...(iss !== null && { iss }) }, isAdministrator };
  const events = await setMarks(ehrId, marksOf(ctx), setter);
  ctx.status = 200;
  writeText(ctx, form, JSON.stringify(await answerOf(events, { ehrId, mode, isHistory: false })));
}

interface Asking {
  readonly ehrId: string;
  readonly user: AuthenticatedUser;
  readonly isAdministrator: boolean;
  /** Whether it is the patient's own token. */
  readonly isOwn: boolean;
}

/** @throws conflict where there are no marks */
async function askingOf(ctx: Context, mode: Mode): Promise<Asking> {
  if (mode === 'off')
    throw new CdrError(
      'conflict',
      'marks are kept where ACCESS_MODE is not off, and hold with ACCESS_MODE=enforce',
    );
  const { user } = ctx.state;
  if (user === null) throw new TypeError('an identified user is known');
  const ehrId = pathParameter(ctx, 'ehr_id');
  auditAbout(ctx, { ehr_id: ehrId });
  const { ehr } = await subjectOf(user);
  return { ehrId, user, isAdministrator: user.permissions.has('admin'), isOwn: ehr === ehrId };
}

/** Before anything is looked up: it tells nothing of the EHR. */
function notAllowed(): CdrError {
  return new CdrError(
    'forbidden',
    "marks of an EHR need the permission admin, or its patient's own token; auditors may read them",
  );
}

interface Answer {
  readonly ehrId: string;
  readonly mode: Mode;
  readonly isHistory: boolean;
}

async function answerOf(
  events: readonly MarkEvent[],
  { ehrId, mode, isHistory }: Answer,
): Promise<JsonObject> {
  const marks = events
    .filter(({ lifted }) => isHistory || lifted === null)
    .map(({ doc, lifted }) => ({
      ...markView(doc),
      ...(lifted !== null && { lifted: { time: formatUtc(lifted.time), by: lifted.by } }),
    }));
  // A patient may not ask administrators which there are.
  const categories = categoryNames(await storedCategories());
  return { ehr_id: ehrId, enforced: mode === 'enforce', categories, marks };
}
