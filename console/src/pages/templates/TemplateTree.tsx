import { Text, UnstyledButton } from '@mantine/core';
import type { ReactNode } from 'react';
import type { WebTemplateNode } from '@everchart/client';
import { useMessages } from '../../messages/messages.js';
import { cardinality, holds, nodeName } from '../../record/web-node.js';

/** The nodes of a template; with a filter only those that have it, and what leads to them. */
export function TemplateTree({
  root,
  filter,
  chosen,
  onChoose,
}: {
  readonly root: WebTemplateNode;
  readonly filter: string;
  readonly chosen: WebTemplateNode | null;
  readonly onChoose: (node: WebTemplateNode) => void;
}): ReactNode {
  const { t, language } = useMessages();
  const branch = (node: WebTemplateNode): ReactNode => {
    if (node.inContext === true || !holds(node, filter, language)) return null;
    return (
      <li key={`${node.aqlPath} ${node.id}`}>
        <UnstyledButton aria-current={node === chosen} onClick={() => onChoose(node)}>
          {nodeName(node, language)}{' '}
          <Text span size="xs" c="dimmed">
            {node.rmType} {cardinality(node)}
          </Text>
        </UnstyledButton>
        {node.children !== undefined && node.children.length > 0 && <ul>{node.children.map(branch)}</ul>}
      </li>
    );
  };
  return (
    <nav className="tree" aria-label={t('templates.tree')}>
      <ul>{branch(root)}</ul>
    </nav>
  );
}
