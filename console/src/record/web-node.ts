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
  const all = (node.inputs ?? []).flatMap((input) => [
    rangeText(input.validation?.range),
    ...(input.list ?? []).map((item) => {
      const label = item.localizedLabels?.[language] ?? item.label ?? item.value;
      const text = `${rangeText(item.validation?.range)} ${label}`.trim();
      return label === item.value ? text : `${text} (${item.value})`;
    }),
    input.listOpen === true ? '…' : '',
  ]);
  // The range of a unit says what that of the number says.
  return all.filter((text) => text !== '' && !all.some((other) => other.startsWith(`${text} `)));
}

/** `0 … 1000`, `0 … < 1000`, `≥ 0`; empty: any. */
export function rangeText({ minOp, min = '', maxOp, max = '' }: WebTemplateRange = {}): string {
  if (min === '' && max === '') return '';
  if (max === '') return `${minOp === '>' ? '>' : '≥'} ${min}`;
  if (min === '') return `${maxOp === '<' ? '<' : '≤'} ${max}`;
  return `${minOp === '>' ? '> ' : ''}${min} … ${maxOp === '<' ? '< ' : ''}${max}`;
}

/** An archetype above a node, and the path from it to the node. */
interface ArchetypeAbove {
  readonly archetype: string;
  readonly type: string;
  readonly path: string;
}

/** The archetypes in which a node stands, innermost first; the last is that of the COMPOSITION. */
export function archetypesAbove(root: WebTemplateNode, node: WebTemplateNode): ArchetypeAbove[] {
  const whole = node.aqlPath ?? '';
  const slots = [...whole.matchAll(/\/[a-z_]+\[(openEHR-EHR-([A-Z_]+)\.[^\],]+)[^\]]*\]/g)].map(
    ({ index, 0: step, 1: archetype = '', 2: type = '' }) => ({
      archetype,
      type,
      path: withoutNames(whole.slice(index + step.length)),
    }),
  );
  return [...slots.reverse(), { archetype: root.nodeId ?? '', type: root.rmType, path: withoutNames(whole) }];
}

function withoutNames(path: string): string {
  return path.replaceAll(/,\s*'[^']*'/g, '');
}

/** What of a value is read as a column, by its type. */
const ENDINGS: Readonly<Record<string, string>> = {
  DV_QUANTITY: '/magnitude',
  DV_COUNT: '/magnitude',
  DV_PROPORTION: '/numerator',
  DV_ORDINAL: '/symbol/value',
  DV_SCALE: '/symbol/value',
  DV_IDENTIFIER: '/id',
  DV_MULTIMEDIA: '/media_type/code_string',
  CODE_PHRASE: '/code_string',
};

/** What stands behind the path of a node so that a column has numbers or text. */
export function endingOf({
  rmType,
  children,
  nodeId,
}: Pick<WebTemplateNode, 'rmType' | 'children' | 'nodeId'>): string {
  const ending = ENDINGS[rmType];
  if (ending !== undefined) return ending;
  if (rmType.startsWith('DV_') && children === undefined) return '/value';
  return nodeId === undefined ? '' : '/name/value';
}

/** A query that reads a node with its patient and time: from the nearest archetype above it. */
export function queryOf(root: WebTemplateNode, node: WebTemplateNode): string {
  const [nearest] = archetypesAbove(root, node);
  const isRoot = nearest === undefined || nearest.archetype === root.nodeId;
  const path = `${isRoot ? 'c' : 'x'}${nearest?.path ?? ''}`;
  const unit = node.rmType === 'DV_QUANTITY' ? `, ${path}/units AS unit` : '';
  return `SELECT e/ehr_id/value AS ehr, c/context/start_time/value AS time, ${path}${endingOf(node)} AS value${unit}
FROM EHR e CONTAINS COMPOSITION c[${root.nodeId ?? ''}]${isRoot ? '' : ` CONTAINS ${nearest.type} x[${nearest.archetype}]`}
ORDER BY c/context/start_time/value DESC`;
}
