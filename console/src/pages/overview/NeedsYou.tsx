import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useMessages } from '../../messages/messages.js';
import { useApi, useOffice } from '../../session/session.js';
import type { Overview } from '@everchart/client';
import { usesOf, type EmergencyUse } from '../administration/access/emergency-uses.js';
import { isFull, percentUsed } from '../../widgets/disk.js';
import { ago } from '../../widgets/time-text.js';
import { numberText } from '../../widgets/number-text.js';
import { epochOf } from '../../record/values/instant.js';
import type { ValueReader } from '../../record/values/value-reader.js';
import { ViewLink } from '../../widgets/ViewLink.js';

/** A check that ended before this many milliseconds says little of now. */
const OLD_MS = 7 * 86_400_000;
/** A day. */
const DAY_MS = 86_400_000;

/** What waits for whoever looks: what a second person has to confirm, what the last check found or that there was none lately, refused sign-ins, a disk that fills up; and for who keeps the audit, emergencies of the last day. */
export function NeedsYou({ overview }: { readonly overview: Overview }): ReactNode {
  const reader = useMessages();
  const { t } = reader;
  const api = useApi();
  const office = useOffice();
  const isAdmin = office?.isAdmin === true;
  const { data = [] } = useQuery({
    queryKey: ['merges', 'approvals'],
    queryFn: () => api.approvals(),
    enabled: isAdmin,
  });
  const emergencies = useEmergencies(office?.mayAudit === true);
  const needs: readonly Need[] = [
    ...needsOfEmergencies(emergencies, reader),
    ...(isAdmin ? needsOfAdmin({ waiting: data.length, overview }, reader) : []),
  ];
  if (needs.length === 0) return null;
  return (
    <ul className="warnings" aria-label={t('needs.title')}>
      {needs.map(({ tab, what }) => (
        <li key={what}>
          <ViewLink underline="always" view={{ to: '/administration', search: { tab } }}>
            {what}
          </ViewLink>
        </li>
      ))}
    </ul>
  );
}

/** Something to be done, and the tab of Administration where it is. */
interface Need {
  readonly tab: string;
  readonly what: string;
}

/** Records that are counted: an emergency makes one with each request. */
const COUNTED = 1_000;
/** How often they are asked for anew, ms. */
const ANEW_MS = 60_000;

/** Uses of emergency access in the last day, for who may read the audit. */
function useEmergencies(mayAudit: boolean): readonly EmergencyUse[] {
  const api = useApi();
  const { data = [] } = useQuery({
    queryKey: ['audit', 'emergency', 'day'],
    queryFn: () =>
      api.audit({
        operation: 'emergency_access',
        from: new Date(Date.now() - DAY_MS).toISOString(),
        fetch: COUNTED,
      }),
    enabled: mayAudit,
    refetchInterval: ANEW_MS,
  });
  return usesOf(data);
}

function needsOfEmergencies({ length }: readonly EmergencyUse[], { t, language }: ValueReader): Need[] {
  if (length === 0) return [];
  return [{ tab: 'access', what: t('needs.emergencies', { count: numberText(length, language) }) }];
}

function needsOfAdmin(
  { waiting, overview }: { readonly waiting: number; readonly overview: Overview },
  reader: ValueReader,
): Need[] {
  const { t } = reader;
  return [
    ...(waiting === 0 ? [] : [{ tab: 'merges', what: t('needs.approvals', { count: waiting }) }]),
    ...needsOfChecks(overview, reader),
    ...needsOfServer(overview, reader),
  ];
}

/** Undefined where the check is told to nobody; null: none has ended. */
function needsOfChecks({ verified, counts }: Overview, { t, language }: ValueReader): Need[] {
  if (verified === null)
    return counts.compositions === 0 ? [] : [{ tab: 'server', what: t('needs.neverChecked') }];
  if (verified === undefined) return [];
  const { violations, time } = verified;
  const needs: Need[] = [];
  if (violations > 0) needs.push({ tab: 'server', what: t('needs.violations', { count: violations }) });
  if (Date.now() - epochOf(time) > OLD_MS)
    needs.push({ tab: 'server', what: t('needs.oldCheck', { ago: ago(time, language) }) });
  return needs;
}

function needsOfServer({ activity, database }: Overview, { t, language }: ValueReader): Need[] {
  const refused = (activity.day ?? []).reduce((sum, part) => sum + part.refused_sign_ins, 0);
  const { disk } = database;
  const needs: Need[] = [];
  if (refused > 0)
    needs.push({ tab: 'audit', what: t('needs.refused', { count: numberText(refused, language) }) });
  if (disk != null && isFull(disk))
    needs.push({ tab: 'server', what: t('needs.disk', { percent: percentUsed(disk) }) });
  return needs;
}
