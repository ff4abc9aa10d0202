import { Button } from '@mantine/core';
import { useState, type ReactNode } from 'react';
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
  return (
    <div className="document">
      <DocumentNode node={status} depth={1} />
      {mayWrite && (
        <Button size="xs" variant="default" mt="md" onClick={() => setIsChanging(true)}>
          {t('composition.edit')}
        </Button>
      )}
    </div>
  );
}
