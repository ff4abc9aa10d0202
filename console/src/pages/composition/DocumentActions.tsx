import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { textAt } from '../../api/json.js';
import { useMessages } from '../../messages/messages.js';
import { useApi, useMay } from '../../session/session.js';
import { formView, useGo } from '../../shell/address.js';
import { State } from '../../widgets/State.js';
import { MoveAway } from './MoveAway.js';
import { Remove } from './Remove.js';
import { useRevisions } from './revisions.js';

/** Code of the lifecycle state `incomplete`. */
const INCOMPLETE = '553';

/** What can be done with a document, and whether it is a draft. An older version is not changed. */
export function DocumentActions({ ehrId, uid }: { readonly ehrId: string; readonly uid: string }): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  const go = useGo();
  const mayWrite = useMay('write');
  const isLatest = useRevisions(ehrId, uid)[0]?.uid === uid;
  const { data } = useQuery({
    queryKey: ['version', ehrId, uid],
    queryFn: () => api.version(ehrId, uid),
  });
  const isDraft = textAt(data, 'lifecycle_state', 'defining_code', 'code_string') === INCOMPLETE;
  return (
    <>
      <State of={isDraft ? 'draft' : 'complete'} />
      {mayWrite && isLatest && (
        <>
          <Button size="xs" variant="default" onClick={() => go(formView(ehrId, { uid: uid }))}>
            {t('composition.edit')}
          </Button>
          <Remove ehrId={ehrId} latest={uid} />
          <MoveAway ehrId={ehrId} uid={uid} />
        </>
      )}
    </>
  );
}
