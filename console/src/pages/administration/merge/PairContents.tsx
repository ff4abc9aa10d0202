import { Button } from '@mantine/core';
import { useQueries } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useMessages } from '../../../messages/messages.js';
import { useApi } from '../../../session/session.js';
import { Failure, Loading } from '../../../widgets/states.js';
import { CompositionDocument } from '../../composition/CompositionDocument.js';
import type { PlannedPair, Side } from './merge-plan.js';

/** What the two documents of a pair say, side by side: nobody chooses between two times of commit. */
export function PairContents({
  ehrs,
  versions,
}: {
  readonly ehrs: Readonly<Record<Side, string>>;
  readonly versions: PlannedPair['versions'];
}): ReactNode {
  const { t } = useMessages();
  const [isShown, setIsShown] = useState(false);
  return (
    <>
      <Button size="compact-xs" variant="default" mt={4} onClick={() => setIsShown(!isShown)}>
        {t(isShown ? 'merge.hideContents' : 'merge.showContents')}
      </Button>
      {isShown && <Contents ehrs={ehrs} versions={versions} />}
    </>
  );
}

function Contents({
  ehrs,
  versions,
}: {
  readonly ehrs: Readonly<Record<Side, string>>;
  readonly versions: PlannedPair['versions'];
}): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  const found = useQueries({
    queries: versions.map(({ side, uid }) => ({
      queryKey: ['composition', ehrs[side], uid],
      queryFn: () => api.composition(ehrs[side], uid),
    })),
  });
  return (
    <div className="pair contents">
      {versions.map(({ side, uid }, index) => {
        const { data, error } = found[index] ?? { data: undefined, error: null };
        return (
          <section key={uid} aria-label={t(`merge.${side}`)}>
            <b>{t(`merge.${side}`)}</b>
            {error !== null && <Failure error={error} />}
            {data === undefined && error === null && <Loading rows={4} />}
            {data !== null && data !== undefined && <CompositionDocument composition={data} />}
          </section>
        );
      })}
    </div>
  );
}
