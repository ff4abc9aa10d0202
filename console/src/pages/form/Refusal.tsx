import { CdrError } from '@everchart/client';
import { Alert } from '@mantine/core';
import type { ReactNode } from 'react';
import type { FlatValues } from '../../form/values.js';
import { useMessages } from '../../messages/messages.js';
import { Failure } from '../../widgets/states.js';
import { Conflict, type FlatVersion } from './Conflict.js';
import { useForm } from './form-state.js';

/** The key of the form was used with what it held before: that was saved, though its answer never came. */
function isSavedBefore({ status, message }: CdrError): boolean {
  return status === 422 && message.includes('Idempotency-Key');
}

/** What the server said: how much stands beside its field, and the rest in full. */
export function Refusal({
  error,
  ehrId,
  begun,
  goOn,
}: {
  readonly error: Error;
  readonly ehrId: string;
  readonly begun: { readonly uid: string | null; readonly values: FlatValues };
  readonly goOn: (newer: FlatVersion, merged: FlatValues) => void;
}): ReactNode {
  const { t } = useMessages();
  const { findings } = useForm();
  const rest = findings.get('') ?? [];
  const count = [...findings].reduce((sum, [place, texts]) => sum + (place === '' ? 0 : texts.length), 0);
  if (error instanceof CdrError && isSavedBefore(error))
    return (
      <Alert color="yellow" variant="light" role="alert" title={t('form.savedBefore')}>
        {t('form.savedBeforeHint')}
      </Alert>
    );
  const newerUid = error instanceof CdrError && error.status === 412 ? error.latestVersion : undefined;
  if (newerUid !== undefined && begun.uid !== null)
    return (
      <Conflict
        key={newerUid}
        ehrId={ehrId}
        begun={{ uid: begun.uid, values: begun.values }}
        newerUid={newerUid}
        goOn={goOn}
      />
    );
  if (error instanceof CdrError && error.status === 0)
    return (
      <Alert color="red" variant="light" role="alert" title={t('error.away')}>
        {t('form.away')}
      </Alert>
    );
  if (count === 0) return <Failure error={error} />;
  return (
    <Alert color="red" variant="light" role="alert" title={t('form.refused')}>
      {t('form.findings', { count })}
      {rest.length > 0 && (
        <ul className="findings">
          {rest.map((text) => (
            <li key={text}>{text}</li>
          ))}
        </ul>
      )}
    </Alert>
  );
}
