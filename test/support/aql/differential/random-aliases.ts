import { pathAlias } from '../../../../openehr/template/upgrade/alias.js';
import type { PathAlias } from '../../../../openehr/template/upgrade/path-alias.js';
import { ARCHETYPES as A } from '../../hilltop/compositions.js';
import type { Random } from '../../random.js';

const PRESSURE = `/content[${A.bloodPressure}]`;
const READINGS = `${PRESSURE}/data[at0001]/events[at0006]/data[at0003]`;
const PROBLEM = `/content[${A.problem}]/data[at0001]`;

/** What templates of random data may have moved: within a node, into and out of one, to another event, entry or archetype. */
const MOVES: readonly (readonly [from: string, to: string, renames?: true])[] = [
  [`${READINGS}/items[at0004]`, `${READINGS}/items[at0005]`],
  [`${READINGS}/items[at0004]`, `${READINGS}/items[at0008]`],
  [`${READINGS}/items[at0008]`, `${READINGS}/items[at0005]`],
  [`${READINGS}/items[at0008]/value`, `${READINGS}/items[at0004]/value`],
  [`${READINGS}/items[at0004]`, `${PRESSURE}/data[at0001]/events[at0007]/data[at0003]/items[at0004]`],
  [`${PRESSURE}/data[at0001]/events[at0006]`, `${PRESSURE}/data[at0001]/events[at0007]`],
  [`${READINGS}/items[at0008]`, `${PRESSURE}/protocol[at0011]/items[at0001]`],
  [`${PRESSURE}/protocol[at0011]/items[at0002]`, `${PRESSURE}/protocol[at0011]/items[at0009]/items[at0002]`],
  [
    `${PRESSURE}/protocol[at0011]/items[${A.device}]/items[at0001]`,
    `${PRESSURE}/protocol[at0011]/items[at0001]`,
  ],
  [`${PROBLEM}/items[at0001]`, `${PROBLEM}/items[at0009]/items[at0001]`],
  [`${PROBLEM}/items[at0002]`, `${PROBLEM}/items[at0004]`],
  [`${PROBLEM}/items[${A.device}]/items[at0004]`, `${PROBLEM}/items[at0004]`],
  [`${PROBLEM}/items[at0001]`, '/context/other_context[at0001]/items[at0001]'],
  ['/context/other_context[at0001]/items[at0002]', '/context/other_context[at0001]/items[at0001]'],
  [PRESSURE, `/content[${A.vitals}]/items[${A.bloodPressure}]`],
  [PRESSURE, `/content[${A.pulse}]`, true],
  [`/content[${A.problem}]`, `/content[${A.allTypes}]`, true],
  [`${PROBLEM}/items[at0002]`, `${PROBLEM}/items[at0001]`, true],
];

/** One to four moves of the templates of random data; names are those that the nodes may have. */
export function randomAliases(random: Random): readonly PathAlias[] {
  return random.list(1, 4, () => {
    const [from, to, renames = false] = random.pick(MOVES);
    const names = (path: string): string[][] =>
      path
        .split('/')
        .slice(1)
        .map(() => (random.chance(0.5) ? ['Left'] : []));
    const stored = { upgrade: 'random', archetype_id: A.encounter, from, to, renames };
    return pathAlias({ ...stored, from_names: names(from), to_names: names(to) }, [
      random.pick(['t.one', 't.two']),
    ]);
  });
}
