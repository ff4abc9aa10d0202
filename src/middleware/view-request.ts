import type { Context } from 'koa';
import type { ViewRequest } from '../../change/access/viewer.js';
import { mayStateEmergency } from './emergency.js';
import { subjectOf } from '../../routes/http/request/subject.js';

/** Who asks, as policies and marks see him: in an emergency that he states by its purpose. @throws as `subjectOf` */
export async function viewRequest(
  ctx: Context,
): Promise<Pick<ViewRequest, 'subject' | 'emergencyReason' | 'mayBreakGlass'>> {
  const { user, emergency } = ctx.state;
  const subject = await subjectOf(user);
  if (emergency === undefined) return { subject, mayBreakGlass: mayStateEmergency(user) };
  return { subject: { ...subject, purpose: emergency.purpose }, emergencyReason: emergency.reason };
}
