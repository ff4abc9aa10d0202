import { counted } from '../../openehr/base/work.js';
import { demandedIdentity } from '../semantics/node-identity.js';
import type { Alias } from '../semantics/scope-types.js';
import type { IdentifiedPath, PathStep } from '../syntax/ast.js';
import { isArchetypeId, isNodeCode } from '../syntax/words.js';

/** What the key of a leaf is made of, and how its value is read. */
export interface LeafAddress {
  readonly archetypeId: string;
  readonly path: string;
  /** Attributes below the ELEMENT or EVENT: `value/magnitude`. */
  readonly ending: string;
  /** Steps of the path as far as that ELEMENT or EVENT. */
  readonly depth: number;
}

const ELEMENT_ENDINGS = new Set([
  'value',
  'value/value',
  'value/magnitude',
  'value/defining_code/code_string',
  'value/id',
]);
const TIME_ENDINGS = new Set([
  'time',
  'time/value',
  'start_time',
  'start_time/value',
  'end_time',
  'end_time/value',
]);

/** The leaf that a path ends in which begins at an object of an archetype; null unless every node on its way is named. */
export function leafAddress(path: IdentifiedPath, alias: Alias, archetype: string): LeafAddress | null {
  let archetypeId = archetype;
  let coded = '';
  for (const [index, step] of counted(path.steps).entries()) {
    const rest = path.steps.slice(index);
    const ending = pathEnding(rest, coded, alias);
    if (ending !== null) return { archetypeId, ...ending, depth: index };
    const { nodeId } = demandedIdentity(step.predicate);
    if (nodeId !== null && isArchetypeId(nodeId)) {
      archetypeId = nodeId;
      coded = '';
    } else if (nodeId !== null && isNodeCode(nodeId)) coded += `/${step.attribute}[${nodeId}]`;
    else if (step.attribute === 'context' && step.predicate === null) coded += '/context';
    else return null;
  }
  return null;
}

function pathEnding(
  rest: readonly PathStep[],
  coded: string,
  alias: Alias,
): { readonly path: string; readonly ending: string } | null {
  if (counted(rest).some(({ predicate }) => predicate !== null)) return null;
  const ending = counted(rest)
    .map(({ attribute }) => attribute)
    .join('/');
  if (ELEMENT_ENDINGS.has(ending) && /\/(items|item|rows)\[[^\]]*\]$/.test(coded))
    return { path: coded, ending };
  if (!TIME_ENDINGS.has(ending)) return null;
  const [attribute] = ending.split('/');
  const isContext = coded === '/context' && alias.classes.includes('COMPOSITION') && attribute !== 'time';
  const isEvent = /\/events\[[^\]]*\]$/.test(coded) && attribute === 'time';
  return isContext || isEvent ? { path: `${coded}/${attribute ?? ''}`, ending: 'time' } : null;
}
