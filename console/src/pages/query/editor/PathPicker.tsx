import { Button, Drawer, Select, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import type { WebTemplate, WebTemplateNode } from '@everchart/client';
import { useMessages } from '../../../messages/messages.js';
import { queryOf } from '../../../record/web-node.js';
import { useApi } from '../../../session/session.js';
import { Failure, Loading } from '../../../widgets/states.js';
import { TemplateTree } from '../../templates/TemplateTree.js';
import { pathIn } from './picked-path.js';

/** What picking a node does to the query. */
interface Picks {
  /** The query as it is. */
  readonly text: string;
  /** Puts a path where the cursor is. */
  readonly onInsert: (path: string) => void;
  /** Takes the place of the query. */
  readonly onReplace: (text: string) => void;
}

/** The nodes of a template beside the editor: one click puts the path of a node into the query. */
export function PathPicker({ close, ...picks }: Picks & { readonly close: () => void }): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  const [chosen, setChosen] = useState<string | null>(null);
  const { data: templates = [] } = useQuery({ queryKey: ['templates'], queryFn: api.templates });
  const templateId = chosen ?? templates[0]?.template_id ?? null;
  const { data, error } = useQuery({
    queryKey: ['web-template', templateId],
    queryFn: () => api.webTemplate(templateId ?? ''),
    enabled: templateId !== null,
    staleTime: Infinity,
  });
  return (
    <Drawer
      opened
      onClose={close}
      position="right"
      size={380}
      title={t('picker.title')}
      // The editor stays in reach.
      withOverlay={false}
      lockScroll={false}
      trapFocus={false}
      closeOnClickOutside={false}
      closeButtonProps={{ 'aria-label': t('keys.close') }}
    >
      <Select
        aria-label={t('picker.template')}
        searchable
        allowDeselect={false}
        data={templates.map(({ template_id: id }) => id)}
        value={templateId}
        onChange={setChosen}
      />
      {error !== null && <Failure error={error} />}
      {data === undefined && error === null && <Loading rows={8} />}
      {data !== undefined && <Nodes key={data.templateId} template={data} {...picks} />}
    </Drawer>
  );
}

function Nodes({
  template,
  text,
  onInsert,
  onReplace,
}: Picks & { readonly template: WebTemplate }): ReactNode {
  const { t } = useMessages();
  const [filter, setFilter] = useState('');
  const [node, setNode] = useState<WebTemplateNode | null>(null);
  const path = node === null ? null : pathIn(text, template.tree, node);
  const pick = (next: WebTemplateNode): void => {
    setNode(next);
    const found = pathIn(text, template.tree, next);
    if (found !== null) onInsert(found);
  };
  return (
    <>
      <TextInput
        type="search"
        mt="xs"
        placeholder={t('templates.filter')}
        aria-label={t('templates.filter')}
        value={filter}
        onChange={(event) => setFilter(event.currentTarget.value)}
      />
      <div role="status">
        {node !== null && path !== null && (
          <Text size="sm" mt="xs" className="well">
            {t('picker.inserted')} <code>{path}</code>
          </Text>
        )}
        {node !== null && path === null && (
          <Text size="sm" mt="xs">
            {t('picker.unbound')}
          </Text>
        )}
      </div>
      {node !== null && path === null && (
        <Button size="xs" mt={4} onClick={() => onReplace(queryOf(template.tree, node))}>
          {t('templates.query')}
        </Button>
      )}
      <TemplateTree root={template.tree} filter={filter} chosen={node} onChoose={pick} />
    </>
  );
}
