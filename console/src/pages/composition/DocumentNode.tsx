import { Text, Tooltip } from '@mantine/core';
import type { ReactNode } from 'react';
import { at, isObject, textAt } from '../../api/json.js';
import type { Json, JsonObject } from '../../api/types.js';
import { useMessages } from '../../messages/messages.js';
import { childrenOf, factsOf, groupsOf, isSilent } from '../../record/structure.js';
import { ClusterTable } from './ClusterTable.js';
import { Value } from './Value.js';

/** Levels of headings; deeper ones look alike. */
const DEEPEST = 6;

/** A node of a record with all below it, as a part of a document. What the console does not know it shows all the same. */
export function DocumentNode({
  node,
  depth,
}: {
  readonly node: JsonObject;
  readonly depth: number;
}): ReactNode {
  if (textAt(node, '_type') === 'ELEMENT') return <ElementLine element={node} />;
  if (isSilent(node)) return <Body node={node} depth={depth} />;
  return (
    <section className="node">
      <NodeHeading node={node} depth={depth} />
      <Body node={node} depth={depth + 1} />
    </section>
  );
}

function NodeHeading({ node, depth }: { readonly node: JsonObject; readonly depth: number }): ReactNode {
  const type = textAt(node, '_type');
  const Heading = `h${Math.min(depth + 1, DEEPEST)}` as 'h2';
  const time = type.endsWith('EVENT') ? at(node, 'time') : undefined;
  return (
    <Heading className={type.endsWith('EVENT') ? 'event' : ''}>
      <Tooltip label={`${type} · ${textAt(node, 'archetype_node_id')}`}>
        <span>{textAt(node, 'name', 'value')}</span>
      </Tooltip>
      {time !== undefined && (
        <Text span c="dimmed" size="sm" ml={8}>
          <Value value={time} />
        </Text>
      )}
    </Heading>
  );
}

function Body({ node, depth }: { readonly node: JsonObject; readonly depth: number }): ReactNode {
  const type = textAt(node, '_type');
  const hidden = HIDDEN_FACTS[type.endsWith('EVENT') ? 'EVENT' : type] ?? [];
  return (
    <>
      {factsOf(node)
        .filter(([name]) => !hidden.includes(name))
        .map(([name, value], index) => (
          <Fact key={`${name} ${index}`} name={name} value={value} />
        ))}
      {groupsOf(childrenOf(node)).map((group, index) =>
        group.length > 1 ? (
          <ClusterTable key={index} clusters={group} />
        ) : (
          group.map((child) => <DocumentNode key={index} node={child} depth={depth} />)
        ),
      )}
    </>
  );
}

/** What stands elsewhere: the time of an event in its heading, the origin of a history in its events. */
const HIDDEN_FACTS: Readonly<Record<string, readonly string[]>> = {
  EVENT: ['time'],
  HISTORY: ['origin'],
};

function ElementLine({ element }: { readonly element: JsonObject }): ReactNode {
  const { t } = useMessages();
  const flavour = textAt(element, 'null_flavour', 'value');
  const value = at(element, 'value');
  return (
    <div className="line">
      <Tooltip label={textAt(element, 'archetype_node_id')}>
        <span className="label">{textAt(element, 'name', 'value')}</span>
      </Tooltip>
      <span className="value">
        {value === undefined ? (
          <i className="quiet">{t('document.missing', { why: flavour === '' ? '–' : flavour })}</i>
        ) : (
          <Value value={value} />
        )}
      </span>
    </div>
  );
}

function Fact({ name, value }: { readonly name: string; readonly value: Json }): ReactNode {
  return (
    <div className="line fact">
      <span className="label">{name.replaceAll('_', ' ')}</span>
      <span className="value">
        {isObject(value) && !/^(DV_|PARTY_|CODE_)/.test(textAt(value, '_type')) ? (
          <NestedFact value={value} />
        ) : (
          <Value value={value} />
        )}
      </span>
    </div>
  );
}

function NestedFact({ value }: { readonly value: JsonObject }): ReactNode {
  return Object.entries(value).map(([name, member]) =>
    name === '_type' || member === undefined ? null : (
      <span key={name} className="nested">
        <span className="quiet">{name.replaceAll('_', ' ')}</span> <Value value={member} />
      </span>
    ),
  );
}
