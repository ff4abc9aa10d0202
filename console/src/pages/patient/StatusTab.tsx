import { Button } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { at, isObject, textAt } from '../../api/json.js';
import type { JsonObject } from '../../api/types.js';
import { useMessages } from '../../messages/messages.js';
import { useMay } from '../../session/session.js';
import { DocumentNode } from '../composition/DocumentNode.js';
import { StatusForm } from './StatusForm.js';

/** The EHR_STATUS, as a document; whoever may write can change it. */
export function StatusTab({
  ehrId,
  status,
}: {
  readonly ehrId: string;
  readonly status: JsonObject;
}): ReactNode {
  const { t } = useMessages();
  const mayWrite = useMay('write');
  const [isChanging, setIsChanging] = useState(false);
  if (isChanging) return <StatusForm ehrId={ehrId} status={status} close={() => setIsChanging(false)} />;
  const said = (flag: string): string => t(at(status, flag) === false ? 'form.no' : 'form.yes');
  const facts = [
    [t('status.subject'), textAt(status, 'subject', 'external_ref', 'id', 'value') || '–'],
    [t('status.namespace'), textAt(status, 'subject', 'external_ref', 'namespace') || '–'],
    [t('status.queryable'), said('is_queryable')],
    [t('status.modifiable'), said('is_modifiable')],
  ] as const;
  const details = at(status, 'other_details');
  return (
    <div className="document">
      {facts.map(([name, value]) => (
        <div key={name} className="line">
          <span className="label">{name}</span>
          <span className="value">{value}</span>
        </div>
      ))}
      {isObject(details) && <DocumentNode node={details} depth={1} />}
      {mayWrite && (
        <Button size="xs" variant="default" mt="md" onClick={() => setIsChanging(true)}>
          {t('composition.edit')}
        </Button>
      )}
    </div>
  );
}
