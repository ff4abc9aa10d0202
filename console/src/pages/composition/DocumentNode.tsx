import { Text, Tooltip } from '@mantine/core';
import type { ReactNode } from 'react';
import { at, textAt } from '../../api/json.js';
import type { Json, JsonObject } from '../../api/types.js';
import { useMessages } from '../../messages/messages.js';
import type { MessageKey } from '../../messages/en.js';
import { asidesOf, childrenOf, factsOf, groupsOf, isSilent, type Aside } from '../../record/structure.js';
import { attributeText } from '../../record/values/attribute-text.js';
import { factLines } from '../../record/values/facts.js';
import { nullText } from '../../record/values/null-flavour.js';
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
  const { t } = useMessages();
  const hidden = HIDDEN_FACTS[type.endsWith('EVENT') ? 'EVENT' : type] ?? [];
  return (
    <>
      {factsOf(node)
        .filter(([name]) => !hidden.includes(name))
        .map(([name, value], index) => (
          <Fact key={`${name} ${index}`} name={name} value={value} />
        ))}
      <Children nodes={childrenOf(node)} depth={depth} />
      {asidesOf(node).map(([name, nodes]) => (
        <section key={name} className="node aside">
          <Subheading depth={depth}>{t(ASIDES[name])}</Subheading>
          <Children nodes={nodes} depth={depth + 1} />
        </section>
      ))}
    </>
  );
}

function Children({
  nodes,
  depth,
}: {
  readonly nodes: readonly JsonObject[];
  readonly depth: number;
}): ReactNode {
  return groupsOf(nodes).map((group, index) =>
    group.length > 1 ? (
      <ClusterTable key={index} clusters={group} />
    ) : (
      group.map((child) => <DocumentNode key={index} node={child} depth={depth} />)
    ),
  );
}

function Subheading({
  depth,
  children,
}: {
  readonly depth: number;
  readonly children: ReactNode;
}): ReactNode {
  const Heading = `h${Math.min(depth + 1, DEEPEST)}` as 'h2';
  return <Heading className="event">{children}</Heading>;
}

/** What is said of how something was measured, and of the patient meanwhile: under a heading of its own, after the values. */
const ASIDES: Readonly<Record<Aside, MessageKey>> = {
  state: 'document.state',
  protocol: 'document.protocol',
};

/** What stands elsewhere: the time of an event in its heading, the origin of a history in its events. */
const HIDDEN_FACTS: Readonly<Record<string, readonly string[]>> = {
  EVENT: ['time'],
  HISTORY: ['origin'],
};

function ElementLine({ element }: { readonly element: JsonObject }): ReactNode {
  const reader = useMessages();
  const value = at(element, 'value');
  return (
    <div className="line">
      <Tooltip label={textAt(element, 'archetype_node_id')}>
        <span className="label">{textAt(element, 'name', 'value')}</span>
      </Tooltip>
      <span className="value">
        {value === undefined ? <i className="quiet">{nullText(element, reader)}</i> : <Value value={value} />}
      </span>
    </div>
  );
}

function Fact({ name, value }: { readonly name: string; readonly value: Json }): ReactNode {
  const reader = useMessages();
  return factLines(value, reader, [attributeText(name, reader)]).map(([label, each], index) => (
    <div key={index} className="line fact">
      <span className="label">{label}</span>
      <span className="value">
        <Value value={each} />
      </span>
    </div>
  ));
}
