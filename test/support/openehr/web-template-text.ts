import { readTemplate, withMatcher } from '../../../openehr/template/compile.js';
import { fixtureText } from '../fixture.js';

/** A node as it is written: a leaf has no children. */
interface WrittenNode extends Record<string, unknown> {
  readonly id: string;
  readonly aqlPath: string;
  readonly children?: readonly WrittenNode[];
}

/** A web template node by node: a line with id and path, and below it everything else that a node says. */
export function webTemplateText(name: string): string {
  const { webTemplateText: text } = withMatcher(readTemplate(fixtureText(`opt/${name}.opt`)));
  const { tree, ...head } = JSON.parse(text.toString()) as { tree: WrittenNode };
  return [`## template\n${JSON.stringify(head)}\n`, ...entriesOf(tree, '')].join('\n');
}

/** Paths of ids are unique, those of AQL are not. */
function entriesOf(node: WrittenNode, parent: string): readonly string[] {
  const { id, aqlPath, children = [], ...said } = node;
  const place = `${parent}/${id}`;
  const members = Object.entries(said).map(([member, value]) => `${member} ${JSON.stringify(value)}`);
  const entry = [`## ${place}`, `aqlPath ${aqlPath}`, ...members, ''].join('\n');
  return [entry, ...children.flatMap((child) => entriesOf(child, place))];
}
