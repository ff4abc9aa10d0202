import { TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import type { WebTemplate } from '@everchart/client';
import { useMessages } from '../../messages/messages.js';
import { nodeAt } from '../../record/web-node.js';
import { useApi } from '../../session/session.js';
import { useAddress } from '../../shell/address.js';
import { Page } from '../../widgets/Page.js';
import { Failure, Loading } from '../../widgets/states.js';
import { NodeFacts } from './NodeFacts.js';
import { TemplateActions } from './TemplateActions.js';
import { TemplateTree } from './TemplateTree.js';

/** One template: its tree, and the node that is chosen. */
export function TemplatePage(): ReactNode {
  const { t } = useMessages();
  const { templateId = '' } = useAddress().params;
  const api = useApi();
  const { data, error, refetch } = useQuery({
    queryKey: ['web-template', templateId],
    queryFn: () => api.webTemplate(templateId),
    staleTime: Infinity,
  });
  return (
    <Page
      title={templateId}
      crumbs={[{ label: t('nav.templates'), view: { to: '/templates' } }]}
      actions={data !== undefined && <TemplateActions templateId={templateId} />}
    >
      {error !== null && <Failure error={error} retry={() => void refetch()} />}
      {data === undefined && error === null && <Loading rows={14} />}
      {data !== undefined && <Loaded template={data} />}
    </Page>
  );
}

function Loaded({ template }: { readonly template: WebTemplate }): ReactNode {
  const { t } = useMessages();
  const { address, change } = useAddress();
  const [filter, setFilter] = useState('');
  const chosen = nodeAt(template.tree, address.node ?? '') ?? template.tree;
  return (
    <div className="split tree-split">
      <div>
        <TextInput
          type="search"
          placeholder={t('templates.filter')}
          aria-label={t('templates.filter')}
          value={filter}
          onChange={(event) => setFilter(event.currentTarget.value)}
        />
        <TemplateTree
          root={template.tree}
          filter={filter}
          chosen={chosen}
          onChoose={(node) => change({ node: node.aqlPath })}
        />
      </div>
      <NodeFacts template={template} node={chosen} />
    </div>
  );
}
