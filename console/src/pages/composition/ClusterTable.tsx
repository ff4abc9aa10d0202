import { Table } from '@mantine/core';
import type { ReactNode } from 'react';
import { at, items, textAt } from '../../api/json.js';
import type { JsonObject } from '../../api/types.js';
import { useMessages } from '../../messages/messages.js';
import { nullText } from '../../record/values/null-flavour.js';
import { Value } from './Value.js';

/** Clusters of one kind as a table: a row for each, a column for each element that any of them has. */
export function ClusterTable({ clusters }: { readonly clusters: readonly JsonObject[] }): ReactNode {
  const names = [
    ...new Set(
      clusters.flatMap((cluster) => items(cluster.items).map((each) => textAt(each, 'name', 'value'))),
    ),
  ];
  return (
    <Table.ScrollContainer minWidth={320} className="clusters">
      <Table className="grid">
        <Table.Caption>{textAt(clusters[0], 'name', 'value')}</Table.Caption>
        <Table.Thead>
          <Table.Tr>
            {names.map((name) => (
              <Table.Th key={name}>{name}</Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {clusters.map((cluster, row) => (
            <Table.Tr key={row}>
              {names.map((name) => (
                <Table.Td key={name}>
                  <Cell cluster={cluster} name={name} />
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function Cell({ cluster, name }: { readonly cluster: JsonObject; readonly name: string }): ReactNode {
  const reader = useMessages();
  return items(cluster.items)
    .filter((each) => textAt(each, 'name', 'value') === name)
    .map((each, index) => {
      const value = at(each, 'value');
      return value === undefined ? (
        <i key={index} className="quiet">
          {nullText(each, reader)}
        </i>
      ) : (
        <Value key={index} value={value} />
      );
    });
}
