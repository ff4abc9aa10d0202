import { Button, FileButton, Table, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type DragEvent, type ReactNode } from 'react';
import type { TemplateInfo } from '@everchart/client';
import { useMessages } from '../../messages/messages.js';
import { useApi, useMay } from '../../session/session.js';
import { templateView, useGo } from '../../shell/address.js';
import { categoryColor } from '../../theme/theme.js';
import { Page } from '../../widgets/Page.js';
import { Empty, Failure, Loading } from '../../widgets/states.js';
import { Time } from '../../widgets/Time.js';
import { ViewLink } from '../../widgets/ViewLink.js';

/** What documents may hold. */
export function TemplatesPage(): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  const mayDefine = useMay('define');
  const { data, error, refetch } = useQuery({ queryKey: ['templates'], queryFn: api.templates });
  return (
    <Page title={t('nav.templates')}>
      {mayDefine && <Upload />}
      {error !== null && <Failure error={error} retry={() => void refetch()} />}
      {data === undefined && error === null && <Loading rows={5} />}
      {data?.length === 0 && <Empty title={t('templates.none')}>{t('steps.templateHint')}</Empty>}
      {data !== undefined && data.length > 0 && <TemplateTable templates={data} />}
    </Page>
  );
}

function Upload(): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  const queries = useQueryClient();
  const go = useGo();
  const [isOver, setIsOver] = useState(false);
  const upload = useMutation({
    mutationFn: async (file: File) => {
      const opt = await file.text();
      await api.uploadTemplate(opt);
      return /<template_id>\s*<value>([^<]+)<\/value>/.exec(opt)?.[1] ?? null;
    },
    onSuccess: async (templateId) => {
      await queries.invalidateQueries();
      if (templateId !== null) go(templateView(templateId));
    },
  });
  const drop = (event: DragEvent): void => {
    event.preventDefault();
    setIsOver(false);
    const [file] = event.dataTransfer.files;
    if (file !== undefined) upload.mutate(file);
  };
  return (
    <div
      className="drop"
      data-over={isOver}
      onDragOver={(event) => {
        event.preventDefault();
        setIsOver(true);
      }}
      onDragLeave={() => setIsOver(false)}
      onDrop={drop}
    >
      <Text component="div">
        {t('templates.drop')}{' '}
        <FileButton accept=".opt,.xml" onChange={(file) => file && upload.mutate(file)}>
          {(props) => (
            <Button {...props} size="xs" variant="default" loading={upload.isPending}>
              {t('steps.choose')}
            </Button>
          )}
        </FileButton>
      </Text>
      {upload.error !== null && <Failure error={upload.error} />}
    </div>
  );
}

function TemplateTable({ templates }: { readonly templates: readonly TemplateInfo[] }): ReactNode {
  const { t } = useMessages();
  return (
    <Table.ScrollContainer minWidth={520}>
      <Table highlightOnHover className="grid">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('templates.id')}</Table.Th>
            <Table.Th visibleFrom="lg">{t('templates.concept')}</Table.Th>
            <Table.Th>{t('templates.archetype')}</Table.Th>
            <Table.Th>{t('templates.uploaded')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {templates.map(({ template_id: id, concept, archetype_id: archetype, created_timestamp: time }) => (
            <Table.Tr key={id}>
              <Table.Td>
                <span className="dot" style={{ background: categoryColor(id) }} />{' '}
                <ViewLink view={templateView(id)}>{id}</ViewLink>
              </Table.Td>
              <Table.Td visibleFrom="lg">{concept}</Table.Td>
              <Table.Td className="mono archetype" title={archetype}>
                {archetype}
              </Table.Td>
              <Table.Td>
                <Time value={time} isAgo />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
