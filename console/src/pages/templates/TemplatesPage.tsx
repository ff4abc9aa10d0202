import { Table, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import type { TemplateInfo } from '@everchart/client';
import { useMessages } from '../../messages/messages.js';
import { useApi, useMay } from '../../session/session.js';
import { templateView } from '../../shell/address.js';
import { categoryColor } from '../../theme/theme.js';
import { Page } from '../../widgets/Page.js';
import { Empty, Failure, Loading } from '../../widgets/states.js';
import { Time } from '../../widgets/Time.js';
import { ViewLink } from '../../widgets/ViewLink.js';
import { Upload } from './Upload.js';

/** Templates that are seen at one glance. */
const FEW = 8;

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

function TemplateTable({ templates }: { readonly templates: readonly TemplateInfo[] }): ReactNode {
  const { t } = useMessages();
  const [wanted, setWanted] = useState('');
  const shown = templates.filter(({ template_id: id, concept, archetype_id: archetype }) =>
    `${id} ${concept} ${archetype}`.toLowerCase().includes(wanted.trim().toLowerCase()),
  );
  return (
    <>
      {templates.length > FEW && (
        <TextInput
          type="search"
          mb="sm"
          maw={360}
          placeholder={t('templates.find')}
          aria-label={t('templates.find')}
          value={wanted}
          onChange={(event) => setWanted(event.currentTarget.value)}
        />
      )}
      {shown.length === 0 ? <Empty title={t('palette.nothing')} /> : <Rows templates={shown} />}
    </>
  );
}

function Rows({ templates }: { readonly templates: readonly TemplateInfo[] }): ReactNode {
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
