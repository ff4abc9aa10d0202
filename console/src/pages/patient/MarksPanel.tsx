import './emergency.css';
import { Alert, Button, Checkbox, Group, Text } from '@mantine/core';
import type { SetMark } from '@everchart/client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useMessages } from '../../messages/messages.js';
import { useApi, useSession } from '../../session/session.js';
import { Empty, Failure, Loading } from '../../widgets/states.js';
import { tell } from '../../widgets/tell.js';
import { MarkForm } from './MarkForm.js';
import { MarkLine } from './MarkLine.js';
import { parted } from './mark-words.js';
import { useMarkRights, useMarks } from './use-marks.js';

/** What restricts a record: those that hold, those that were lifted, and a form for another one. */
export function MarksPanel({ ehrId }: { readonly ehrId: string }): ReactNode {
  const { t } = useMessages();
  const { access_mode: mode } = useSession().settings;
  const { maySet } = useMarkRights(ehrId);
  const { data, error, refetch } = useMarks(ehrId);
  const [isAll, setIsAll] = useState(false);
  const [isSetting, setIsSetting] = useState(false);
  if (error !== null) return <Failure error={error} retry={() => void refetch()} />;
  if (data === undefined) return <Loading rows={3} />;
  const { holding, lifted } = parted(data);
  return (
    <div className="marks">
      {mode !== 'enforce' && (
        <Alert color="yellow" mb="sm">
          {t('marks.notEnforced')}
        </Alert>
      )}
      {holding.length === 0 && <Empty title={t('marks.none')}>{t('marks.noneHint')}</Empty>}
      <ul className="mark-list">
        {holding.map((mark) => (
          <li key={`${mark.time} ${mark.kind}`}>
            <MarkLine mark={mark} />
            <Lift ehrId={ehrId} mark={mark} />
          </li>
        ))}
      </ul>
      {isSetting ? (
        <MarkForm ehrId={ehrId} close={() => setIsSetting(false)} />
      ) : (
        <Group gap="md">
          {maySet && (
            <Button variant="default" onClick={() => setIsSetting(true)}>
              {t('marks.add')}
            </Button>
          )}
          {lifted.length > 0 && (
            <Checkbox
              label={t('marks.showLifted', { count: lifted.length })}
              checked={isAll}
              onChange={(event) => setIsAll(event.currentTarget.checked)}
            />
          )}
        </Group>
      )}
      {isAll && (
        <ul className="mark-list" data-lifted="true">
          {lifted.map((mark) => (
            <li key={`${mark.time} ${mark.kind} ${mark.lifted?.time ?? ''}`}>
              <MarkLine mark={mark} />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** Lifts a restriction, with a second click: what it hid is seen again. */
function Lift({ ehrId, mark }: { readonly ehrId: string; readonly mark: SetMark }): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  const queries = useQueryClient();
  const { maySet, isAdmin } = useMarkRights(ehrId);
  const [isAsked, setIsAsked] = useState(false);
  const lift = useMutation({
    mutationFn: () => api.liftMark(ehrId, mark),
    onSuccess: async () => {
      tell(t('marks.isLifted'));
      await queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey.includes(ehrId) });
    },
  });
  // The patient lifts what is his own to set.
  if (!maySet || (mark.kind === 'restriction_of_processing' && !isAdmin)) return null;
  if (!isAsked)
    return (
      <Button size="compact-sm" variant="default" onClick={() => setIsAsked(true)}>
        {t('marks.lift')}
      </Button>
    );
  return (
    <div>
      <Text size="sm">{t('marks.liftHint')}</Text>
      <Group gap={4} mt={4}>
        <Button size="compact-sm" color="red.9" loading={lift.isPending} onClick={() => lift.mutate()}>
          {t('marks.liftNow')}
        </Button>
        <Button size="compact-sm" variant="default" onClick={() => setIsAsked(false)}>
          {t('marks.keep')}
        </Button>
      </Group>
      {lift.error !== null && <Failure error={lift.error} />}
    </div>
  );
}
