import { Text } from '@mantine/core';
import { useRef, useState, type KeyboardEvent, type ReactNode } from 'react';
import type { WebTemplateNode } from '@everchart/client';
import { useMessages } from '../../messages/messages.js';
import { cardinality, holds, nodeName } from '../../record/web-node.js';

/**
 * The nodes of a template; with a filter only those that have it, and what leads to them. One stop of Tab: arrows go up and
 * down, right and left open and fold, Enter chooses.
 */
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
  const tree = useRef<HTMLUListElement>(null);
  const { isFolded, fold } = useFolded(filter);
  const isShown = (node: WebTemplateNode): boolean =>
    node.inContext !== true && holds(node, filter, language);
  // Where Tab goes in: where one was last.
  const [last, setLast] = useState(chosen ?? root);
  const entry = isShown(last) ? last : root;
  const branch = (node: WebTemplateNode, level: number): ReactNode => {
    if (!isShown(node)) return null;
    const children = (node.children ?? []).filter(isShown);
    return (
      <li key={`${node.aqlPath} ${node.id}`} role="none">
        <div
          className="tree-line"
          role="treeitem"
          aria-level={level}
          aria-selected={node === chosen}
          aria-expanded={children.length === 0 ? undefined : !isFolded(node)}
          tabIndex={node === entry ? 0 : -1}
          onFocus={() => setLast(node)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' || event.key === ' ') onChoose(node);
            else if (event.key === 'ArrowRight' && isFolded(node)) fold(node, false);
            else if (event.key === 'ArrowLeft' && children.length > 0 && !isFolded(node)) fold(node, true);
            else if (!move(event, tree.current)) return;
            event.preventDefault();
          }}
        >
          <span
            className="tree-fold"
            aria-hidden
            onClick={() => fold(node, !isFolded(node))}
            data-leaf={children.length === 0}
          >
            {isFolded(node) ? '▸' : '▾'}
          </span>
          <span
            className="tree-node"
            onClick={(event) => {
              event.currentTarget.parentElement?.focus();
              onChoose(node);
            }}
          >
            {nodeName(node, language)}{' '}
            <Text span size="xs" c="dimmed">
              {node.rmType} {cardinality(node)}
            </Text>
          </span>
        </div>
        {children.length > 0 && !isFolded(node) && (
          <ul role="group">{children.map((child) => branch(child, level + 1))}</ul>
        )}
      </li>
    );
  };
  return (
    <nav className="tree" aria-label={t('templates.tree')}>
      <ul role="tree" ref={tree} aria-label={t('templates.tree')}>
        {branch(root, 1)}
      </ul>
    </nav>
  );
}

/** Which nodes are folded; what a filter found is never folded away. */
function useFolded(filter: string) {
  const [folded, setFolded] = useState<ReadonlySet<WebTemplateNode>>(new Set());
  return {
    isFolded: (node: WebTemplateNode): boolean => filter === '' && folded.has(node),
    fold: (node: WebTemplateNode, isFolded: boolean): void => {
      const next = new Set(folded);
      if (isFolded) next.add(node);
      else next.delete(node);
      setFolded(next);
    },
  };
}

/** Goes to the next or the last item, the first or the last of all, or the one above; whether the key means any. */
function move({ key, currentTarget }: KeyboardEvent<HTMLElement>, tree: HTMLElement | null): boolean {
  const items = [...(tree?.querySelectorAll<HTMLElement>('[role=treeitem]') ?? [])];
  const at = items.indexOf(currentTarget);
  const above = currentTarget
    .closest('[role=group]')
    ?.parentElement?.querySelector<HTMLElement>('[role=treeitem]');
  const next = {
    ArrowDown: items[at + 1],
    ArrowUp: items[at - 1],
    ArrowRight: items[at + 1],
    ArrowLeft: above,
    Home: items[0],
    End: items.at(-1),
  }[key];
  next?.focus();
  return next instanceof HTMLElement;
}
