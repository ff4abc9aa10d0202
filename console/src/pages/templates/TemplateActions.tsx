import { Button, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useMessages } from '../../messages/messages.js';
import { useApi, useOffice } from '../../session/session.js';
import { useGoOn } from '../../shell/address.js';
import { download } from '../query/result/download.js';

/** What can be done with a whole template: its OPT as a file; taken away by an administrator, where nothing uses it. */
export function TemplateActions({ templateId }: { readonly templateId: string }): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  const queries = useQueryClient();
  const goOn = useGoOn();
  const isAdmin = useOffice()?.isAdmin === true;
  const save = useMutation({
    mutationFn: () => api.opt(templateId),
    onSuccess: (opt) => download(`${templateId}.opt`, 'application/xml', opt),
  });
  const remove = useMutation({
    mutationFn: () => api.deleteTemplate(templateId),
    onSuccess: async () => {
      await goOn({ to: '/templates' });
      await queries.invalidateQueries({ queryKey: ['templates'] });
    },
  });
  const error = save.error ?? remove.error;
  return (
    <>
      {error !== null && (
        <Text className="flag" role="alert">
          {error.message}
        </Text>
      )}
      <Button variant="default" loading={save.isPending} onClick={() => save.mutate()}>
        {t('templates.download')}
      </Button>
      {isAdmin && (
        <Button
          variant="default"
          color="red"
          loading={remove.isPending}
          onClick={() => window.confirm(t('templates.deleteSure', { id: templateId })) && remove.mutate()}
        >
          {t('templates.delete')}
        </Button>
      )}
    </>
  );
}
