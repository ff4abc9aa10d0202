import { beforeAll, expect, it } from '@jest/globals';
import request from 'supertest';
import type { JsonObject, JsonValue } from '../../../openehr/base/json.js';
import { exampleComposition } from '../../../openehr/template/example/example.js';
import { compileTemplate } from '../../../openehr/template/compile.js';
import { nodeIdsOf } from '../../../openehr/template/opt/node-ids.js';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { fixtureText, templateNames } from '../../support/fixture.js';
import { draws, seeds } from '../../support/laws.js';
import { Random } from '../../support/random.js';
import { givenEhr, givenTemplate, V1, type Json } from '../../support/resources.js';

/**
 * What its template names in stored content is there: a query whose codes and archetype ids are all taken from content finds
 * it and is warned of nothing, wherever its variables begin and whatever it leaves unsaid. A code that no template has is
 * warned of where the archetype is said. A failure names its seed: `LAW_SEED=<seed>`.
 */
useDatabase();

const SIZES = { small: 100, full: 10_000 };
const app = testApp();

/** A node of stored content, and by which attribute of the node above it is found. */
interface Found {
  readonly attribute: string;
  readonly type: string;
  readonly code: string;
  readonly name: string;
  readonly below: readonly Found[];
}

const roots: Found[] = [];
/** Codes of the templates by archetype: where they say nothing, and in open slots, content may have anything. */
const defined = new Map<string, Set<string>>();

beforeAll(async () => {
  const ehrId = await givenEhr(app);
  const texts = new Map(templateNames().map((name) => [name, fixtureText(`opt/${name}.opt`)]));
  for (const text of texts.values())
    for (const [archetype, codes] of nodeIdsOf(text))
      defined.set(archetype, new Set([...(defined.get(archetype) ?? []), ...codes]));
  for (const [name, text] of texts) {
    await givenTemplate(app, name);
    const composition = exampleComposition(compileTemplate(text), { detailLevel: 'complete', type: 'input' });
    const { status } = await request(app).post(`${V1}/ehr/${ehrId}/composition`).send(composition);
    if (status === 201) roots.push(...nodesOf('', composition, ''));
  }
  expect(roots.length).toBeGreaterThan(10);
});

const isRoot = ({ code }: Pick<Found, 'code'>): boolean => code.startsWith('openEHR-');

/** `around`: the archetype that it stands in. */
function nodesOf(attribute: string, value: JsonValue | undefined, around: string): Found[] {
  if (Array.isArray(value)) return value.flatMap((each) => nodesOf(attribute, each, around));
  if (typeof value !== 'object' || value === null || !('archetype_node_id' in value)) return [];
  const code = value['archetype_node_id'] as string;
  const own = isRoot({ code }) ? code : around;
  if (own === code ? !defined.has(code) : defined.get(around)?.has(code) !== true) return [];
  return [
    {
      attribute,
      type: value['_type'] as string,
      code,
      name: (value['name'] as JsonObject)['value'] as string,
      below: Object.entries(value).flatMap(([key, each]) => nodesOf(key, each, own)),
    },
  ];
}

/** A way from a COMPOSITION down to one of its nodes. */
function wayDown(random: Random): Found[] {
  const way = [random.pick(roots)];
  for (let last = way[0]!; last.below.length > 0 && !random.chance(0.1); way.push(last))
    last = random.pick(last.below);
  return way;
}

const quoted = (text: string): string => `'${text.replace(/[\\']/g, '\\$&')}'`;

/** A node of the query: all that it says is so. */
interface Said extends Found {
  readonly predicate: string;
}

function said(node: Found, random: Random): Said {
  const named = `, ${quoted(node.name)}`;
  const predicate = random.chance(0.3) ? '' : `[${node.code}${random.chance(0.3) ? named : ''}]`;
  return { ...node, predicate };
}

interface Drawn {
  readonly q: string;
  /** The same with a code that no template has; null where the query does not tell of which archetype it is. */
  readonly wrong: string | null;
}

const NO_CODE = 'at9998';

/** Where the archetype begins that a node is of. */
function rootOf(way: readonly Found[], place: number): number {
  return isRoot(way[place]!) || place === 0 ? place : rootOf(way, place - 1);
}

function draw(random: Random): Drawn {
  const way = wayDown(random).map((node) => said(node, random));
  const variables = [...way.keys()].filter((place) => place === 0 || random.chance(0.4));
  const start = variables.at(-1) ?? 0;
  let held: number | null = null;
  const rootsSaid = new Set<number>();
  const containment = variables.map((place) => {
    const { type, code, predicate } = way[place]!;
    // The code of a node holds in the archetype of the variable above it.
    const isSaid = predicate !== '' && (isRoot(way[place]!) || held === rootOf(way, place));
    held = isSaid ? rootOf(way, place) : null;
    if (held === place) rootsSaid.add(place);
    return `CONTAINS ${type} v${place}${isSaid ? `[${code}]` : ''}`;
  });
  const steps = way.slice(start + 1);
  const query = (last: readonly Said[]): string =>
    `SELECT v${start}/${[...last.map(({ attribute, predicate }) => attribute + predicate), 'name/value'].join('/')} FROM EHR e ${containment.join(' ')}`;
  const isTold = rootsSaid.has(start);
  // The codes of these are surely of the archetype of the variable.
  const end = steps.findIndex((step) => isRoot(step) || step.predicate === '');
  const plain = end < 0 ? steps.length : end;
  if (!isTold || plain === 0) return { q: query(steps), wrong: null };
  const place = random.below(plain);
  const changed = steps.map((step, at) => (at === place ? { ...step, predicate: `[${NO_CODE}]` } : step));
  return { q: query(steps), wrong: query(changed) };
}

async function ask(q: string): Promise<Json> {
  const { status, body } = await request(app).post(`${V1}/query/aql`).send({ q });
  expect([q, status, body.message]).toEqual([q, 200, undefined]);
  return body;
}

it(
  `never warns of what is there, in ${draws(SIZES)} queries, and of what is not where it can know`,
  async () => {
    const faults: string[] = [];
    let wrongs = 0;
    for (const seed of seeds(SIZES)) {
      const { q, wrong } = draw(new Random(seed));
      const { rows, meta } = await ask(q);
      if (rows.length === 0 || meta.warnings !== undefined)
        faults.push(`seed ${seed}: ${rows.length} rows, ${JSON.stringify(meta.warnings)}\n  ${q}`);
      if (wrong === null) continue;
      wrongs += 1;
      const warned = (await ask(wrong)).meta.warnings as { code: string; message: string }[] | undefined;
      if (!warned?.some(({ code, message }) => code === 'unknown_node' && message.includes(NO_CODE)))
        faults.push(`seed ${seed}: not warned of, but ${JSON.stringify(warned)}\n  ${wrong}`);
    }
    expect(faults.join('\n')).toBe('');
    expect(wrongs).toBeGreaterThan(draws(SIZES) / 40);
  },
  120_000 + draws(SIZES) * 500,
);
