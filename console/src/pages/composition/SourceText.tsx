import { Button, CopyButton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { CompositionFormat } from '@everchart/client';
import { useMessages } from '../../messages/messages.js';
import { useApi } from '../../session/session.js';
import { Failure, Loading } from '../../widgets/states.js';

/** A COMPOSITION in one of its formats, to be copied. */
export function SourceText({
  ehrId,
  uid,
  format,
}: {
  readonly ehrId: string;
  readonly uid: string;
  readonly format: CompositionFormat;
}): ReactNode {
  const api = useApi();
  const { data, error } = useQuery({
    queryKey: ['composition-text', ehrId, uid, format],
    queryFn: () => api.compositionText(ehrId, uid, format),
  });
  if (error !== null) return <Failure error={error} />;
  return data === undefined ? <Loading rows={12} /> : <CopyText text={data} label={format} />;
}

/** Text as it is, with a button that copies it. */
export function CopyText({ text, label }: { readonly text: string; readonly label: string }): ReactNode {
  const { t } = useMessages();
  return (
    <div className="source">
      <CopyButton value={text}>
        {({ copied, copy }) => (
          <Button size="xs" variant="default" onClick={copy}>
            {t(copied ? 'source.copied' : 'source.copy')}
          </Button>
        )}
      </CopyButton>
      <pre tabIndex={0} aria-label={label}>
        {text}
      </pre>
    </div>
  );
}
