import { Button, Drawer, Group, Select, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { addColumn, addCondition, type Catalogue, type Edit } from '@everchart/aql';
import type { WebTemplate, WebTemplateNode } from '@everchart/client';
import { useMessages } from '../../../messages/messages.js';
import { queryOf } from '../../../record/web-node.js';
import { useApi } from '../../../session/session.js';
import { Failure, Loading } from '../../../widgets/states.js';
import { TemplateTree } from '../../templates/TemplateTree.js';
import { archetypesIn, pathIn } from './picked-path.js';

/** What picking a node does to the query. */
interface Picks {
  /** The query as it is. */
  readonly text: string;
  /** The query with the path in it, and where one goes on writing. */
  readonly onEdit: (edit: Edit) => void;
  /** Takes the place of the query. */
  readonly onReplace: (text: string) => void;
}

/** The nodes of a template beside the editor: one click makes a node a column of the query, another one a condition. */
export function PathPicker({
  close,
  catalogue,
  ...picks
}: Picks & {
  readonly close: () => void;
  /** What templates say, as far as they were read. */
  readonly catalogue: Catalogue | null;
}): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  const [chosen, setChosen] = useState<string | null>(null);
  const { data: templates = [] } = useQuery({ queryKey: ['templates'], queryFn: api.templates });
  // What the query asks of is picked from.
  const asked = archetypesIn(picks.text)
    .map((id) => catalogue?.archetype(id)?.templateId)
    .findLast((id) => id !== undefined);
  const templateId = chosen ?? asked ?? templates[0]?.template_id ?? null;
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

function Nodes({ template, text, onEdit, onReplace }: Picks & { readonly template: WebTemplate }): ReactNode {
  const { t } = useMessages();
  const [filter, setFilter] = useState('');
  const [node, setNode] = useState<WebTemplateNode | null>(null);
  const path = node === null ? null : pathIn(text, template.tree, node);
  const add = (edit: Edit | null): void => {
    if (edit !== null) onEdit(edit);
  };
  const pick = (next: WebTemplateNode): void => {
    setNode(next);
    const found = pathIn(text, template.tree, next);
    if (found !== null) add(addColumn(text, found));
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
        {node !== null && (
          <Text size="sm" mt="xs" className={path === null ? undefined : 'well'}>
            {path === null ? t('picker.unbound') : t('picker.column')} {path !== null && <code>{path}</code>}
          </Text>
        )}
      </div>
      {node !== null && (
        <Group mt={4}>
          {path === null ? (
            <Button size="xs" onClick={() => onReplace(queryOf(template.tree, node))}>
              {t('templates.query')}
            </Button>
          ) : (
            <Button size="xs" variant="default" onClick={() => add(addCondition(text, path))}>
              {t('picker.condition')}
            </Button>
          )}
        </Group>
      )}
      <TemplateTree root={template.tree} filter={filter} chosen={node} onChoose={pick} />
    </>
  );
}
