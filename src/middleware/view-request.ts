import type { Context } from 'koa';
import type { ViewRequest } from '../../change/access/viewer.js';
import { subjectOf } from '../../routes/http/request/subject.js';

/** Who asks, as policies and marks see him: in an emergency that he states by its purpose. @throws as `subjectOf` */
export async function viewRequest(
  ctx: Context,
): Promise<Pick<ViewRequest, 'subject' | 'emergencyReason' | 'mayBreakGlass'>> {
  const { user, emergency } = ctx.state;
  const subject = await subjectOf(user);
  const mayBreakGlass = emergency === undefined && user?.permissions.has('emergency') === true;
  if (emergency === undefined) return { subject, mayBreakGlass };
  return { subject: { ...subject, purpose: emergency.purpose }, emergencyReason: emergency.reason };
}
