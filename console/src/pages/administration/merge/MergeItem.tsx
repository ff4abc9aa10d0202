import { Text } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import type { MergeDetails } from '@everchart/client';
import { isObject, textAt } from '../../../api/json.js';
import { useMessages } from '../../../messages/messages.js';
import { patientView } from '../../../shell/address.js';
import { Id } from '../../../widgets/Id.js';
import { Time } from '../../../widgets/Time.js';
import { ViewLink } from '../../../widgets/ViewLink.js';
import { usePatientName } from '../../patient/PatientBanner.js';
import { Finalise } from './Finalise.js';
import { Outcome } from './Outcome.js';
import { Undo } from './Undo.js';

/** A merge that stands: what it did, why, and what would take it back. */
export function MergeItem({ merge }: { readonly merge: MergeDetails }): ReactNode {
  const { t } = useMessages();
  const [isUndoing, setIsUndoing] = useState(false);
  return (
    <li>
      <div>
        <MergePair merge={merge} />
        <Text size="sm" c="dimmed" component="div">
          <Outcome summary={merge.outcome.summary} />
        </Text>
        <MergeMotive merge={merge} />
        {merge.finalised === undefined ? (
          <>
            <Undo merge={merge} onStart={() => setIsUndoing(true)} />
            {!isUndoing && <Finalise merge={merge} />}
          </>
        ) : (
          <Text size="sm">
            {t('merge.isFinal', {
              who: textAt(merge.finalised, 'committer'),
              why: textAt(merge.finalised, 'reason'),
            })}
          </Text>
        )}
      </div>
      <Text size="sm" c="dimmed" className="line-end">
        <Time value={merge.merge_date} isAgo />
      </Text>
    </li>
  );
}

/** A merge that was taken back: who did it, and why. */
export function UndoneMerge({ merge }: { readonly merge: MergeDetails }): ReactNode {
  const { t } = useMessages();
  const { undone } = merge;
  return (
    <li>
      <div>
        <NamedPair merge={merge} />
        <Text size="sm" c="dimmed">
          {t('merge.takenBackBy', { who: textAt(undone, 'committer') })}
        </Text>
        {isObject(undone) && <MergeMotive merge={undone} />}
      </div>
      <Text size="sm" c="dimmed" className="line-end">
        <Time value={textAt(undone, 'date')} isAgo />
      </Text>
    </li>
  );
}

/** Which EHR went into which. */
function MergePair({ merge }: { readonly merge: MergeDetails }): ReactNode {
  return (
    <Text component="div">
      <Id value={merge.source_ehr} /> →{' '}
      <ViewLink view={patientView(merge.target_ehr)} className="mono">
        {merge.target_ehr.slice(0, 8)}
      </ViewLink>
    </Text>
  );
}

/** Which patient would go into which: both are still there, and are named. */
export function NamedPair({ merge }: { readonly merge: MergeDetails }): ReactNode {
  return (
    <Text component="div" fw={600}>
      <NamedPatient ehrId={merge.source_ehr} /> → <NamedPatient ehrId={merge.target_ehr} />
    </Text>
  );
}

/** A patient by his name, with the way to his record. */
export function NamedPatient({ ehrId }: { readonly ehrId: string }): ReactNode {
  const name = usePatientName(ehrId);
  return (
    <>
      <ViewLink view={patientView(ehrId)}>{name}</ViewLink> <Id value={ehrId} />
    </>
  );
}

/** Why, and who asked for it, as far as it is known. */
export function MergeMotive({ merge }: { readonly merge: Readonly<Record<string, unknown>> }): ReactNode {
  const { t } = useMessages();
  const [reason, requestedBy] = [textAt(merge, 'reason'), textAt(merge, 'requested_by')];
  if (reason === '' && requestedBy === '') return null;
  return (
    <Text size="sm" className="message">
      {reason}
      {requestedBy !== '' && ` · ${t('merge.askedBy', { who: requestedBy })}`}
    </Text>
  );
}
