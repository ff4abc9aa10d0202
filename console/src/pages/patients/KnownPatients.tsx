import { Group, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useMessages } from '../../messages/messages.js';
import type { OpenedRecord } from '../../record/recent.js';
import { patientView } from '../../shell/address.js';
import { ViewLink } from '../../widgets/ViewLink.js';
import { useFavourites, useRecent } from './use-known-patients.js';

/** Those whom one need not look for: favourites, and who was opened lately. */
export function KnownPatients(): ReactNode {
  const { t } = useMessages();
  const favourites = useFavourites() ?? [];
  const recent = useRecent();
  return (
    <>
      <Names title={t('own.favourites')} of={favourites} />
      <Names title={t('own.recent')} of={recent} />
    </>
  );
}

function Names({ title, of }: { readonly title: string; readonly of: readonly OpenedRecord[] }): ReactNode {
  if (of.length === 0) return null;
  return (
    <Group component="nav" aria-label={title} gap="sm" mb="sm" className="known">
      <Text size="sm" c="dimmed" component="span">
        {title}
      </Text>
      {of.map(({ ehrId, name }) => (
        <ViewLink key={ehrId} view={patientView(ehrId)} title={ehrId} className="chip">
          {name}
        </ViewLink>
      ))}
    </Group>
  );
}
