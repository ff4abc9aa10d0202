import type { WebTemplateNode, WebTemplateRange } from '@everchart/client';

/** The name of a node in a language, else in that of the template. */
export function nodeName(node: WebTemplateNode, language: string): string {
  return node.localizedNames?.[language] ?? node.localizedName ?? node.name ?? node.id;
}

/** Whether a node, or any below it, has the text in a name or id. */
export function holds(node: WebTemplateNode, text: string, language: string): boolean {
  const wanted = text.toLowerCase();
  return (
    `${nodeName(node, language)} ${node.nodeId ?? ''} ${node.id}`.toLowerCase().includes(wanted) ||
    (node.children ?? []).some((child) => holds(child, text, language))
  );
}

/** The node with this path; null: there is none. */
export function nodeAt(node: WebTemplateNode, path: string): WebTemplateNode | null {
  if (node.aqlPath === path) return node;
  for (const child of node.children ?? []) {
    const found = nodeAt(child, path);
    if (found !== null) return found;
  }
  return null;
}

/** How often a node may occur: `0..1`, `1..*`. */
export function cardinality({ min, max }: WebTemplateNode): string {
  return `${min}..${max < 0 ? '*' : max}`;
}

/** What an input takes: units with their ranges, codes with their labels, limits. */
export function constraintsOf(node: WebTemplateNode, language: string): string[] {
  return (node.inputs ?? []).flatMap((input) => [
    ...rangeText(input.validation?.range),
    ...(input.list ?? []).map((item) => {
      const label = item.localizedLabels?.[language] ?? item.label ?? item.value;
      return (
        [label, ...rangeText(item.validation?.range)].join(' ') +
        (label === item.value ? '' : ` (${item.value})`)
      );
    }),
    ...(input.listOpen === true ? ['…'] : []),
  ]);
}

function rangeText(range: WebTemplateRange | undefined): string[] {
  if (range === undefined) return [];
  const { minOp = '', min = '', maxOp = '', max = '' } = range;
  return [
    [min === '' ? '' : `${minOp} ${min}`, max === '' ? '' : `${maxOp} ${max}`].filter(Boolean).join(', '),
  ];
}

/** A query that reads a node: from the nearest archetype above it. */
export function queryOf(root: WebTemplateNode, node: WebTemplateNode): string {
  const whole = node.aqlPath ?? '';
  const parts = [...whole.matchAll(/\/[a-z_]+\[(openEHR-EHR-([A-Z_]+)\.[^\],]+)[^\]]*\]/g)];
  const last = parts.at(-1);
  if (last === undefined)
    return `SELECT c${whole} AS value\nFROM EHR e CONTAINS COMPOSITION c[${root.nodeId ?? ''}]`;
  const [, archetype, type] = last;
  const path = whole.slice(last.index + last[0].length).replaceAll(/,\s*'[^']*'/g, '');
  return `SELECT c/context/start_time/value AS time, x${path}${path === '' ? '' : '/value'} AS value
FROM EHR e CONTAINS COMPOSITION c[${root.nodeId ?? ''}] CONTAINS ${type ?? 'LOCATABLE'} x[${archetype ?? ''}]
ORDER BY c/context/start_time/value DESC`;
}
