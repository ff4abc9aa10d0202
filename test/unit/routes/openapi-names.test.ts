import { expect, it } from '@jest/globals';
import { openApiDocument } from '../../../routes/http/openapi-document.js';
import type { JsonObject, JsonValue } from '../../../openehr/base/json.js';
import { everyOperation } from '../../../src/operation-table.js';

const groups = everyOperation().groups;
const document = openApiDocument(groups, 'http://127.0.0.1');

/** Every object of a document with its path. */
function* objectsOf(value: JsonValue, path = '#'): Generator<readonly [string, JsonObject]> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield [path, value];
  for (const [key, member] of Object.entries(value)) yield* objectsOf(member, `${path}/${key}`);
}
/** A schema, or the one that it names. */
function resolved(schema: JsonObject): JsonObject {
  const { $ref } = schema;
  const name = typeof $ref === 'string' ? /^#\/components\/schemas\/([^/]+)$/.exec($ref)?.[1] : undefined;
  const { schemas } = document.components as { schemas: Record<string, JsonObject> };
  return name === undefined ? schema : resolved(schemas[name]!);
}
const isName = /^#\/components\/schemas\/[^/]+$/;

it('names every union of objects: generators give the others names that nobody would choose', () => {
  const unnamed = [...objectsOf(document)].filter(([path, { oneOf, anyOf }]) => {
    const members = (oneOf ?? anyOf ?? []) as readonly JsonObject[];
    return members.some(({ $ref }) => $ref !== undefined) && !isName.test(path);
  });
  expect(unnamed.map(([path]) => path)).toEqual([]);
});

it('has no union with a map: what generators of Java make of one does not compile', () => {
  const broken = [...objectsOf(document)].filter(([, { oneOf, anyOf }]) =>
    ((oneOf ?? anyOf ?? []) as readonly JsonObject[]).some(
      (member) => resolved(member).additionalProperties !== undefined,
    ),
  );
  expect(broken.map(([path]) => path)).toEqual([]);
});

it('has no schema and parameter that generators of Go give one name', () => {
  const { schemas, parameters } = document.components as Record<string, JsonObject>;
  const names = new Set(Object.keys(parameters!).map(goName));
  expect(Object.keys(schemas!).filter((name) => names.has(goName(name)))).toEqual([]);
});

/** `Identifier` of `identifier`, `TemplateId` of `template_id`. */
function goName(name: string): string {
  return name.replace(/(^|[-_])([a-z])/gi, (_, __, letter: string) => letter.toUpperCase());
}

it('has no schema named like what generators of Go call the constructor of another', () => {
  const { schemas } = document.components as { schemas: Record<string, JsonObject> };
  const names = Object.keys(schemas);
  expect(names.filter((name) => names.some((other) => name === `New${other}`))).toEqual([]);
});

it('says of every list what is in it', () => {
  const open = [...objectsOf(document)].filter(
    ([, { type, items }]) => type === 'array' && items === undefined,
  );
  expect(open.map(([path]) => path)).toEqual([]);
});

it('gives no parameter of a query a default: generated clients send it, and an offset beside LIMIT is refused', () => {
  const { parameters } = document.components as { parameters: Record<string, JsonObject> };
  const queries = Object.entries(document.paths as Record<string, JsonObject>).filter(([path]) =>
    /\/v1\/query\//.test(path),
  );
  expect(queries.length).toBeGreaterThan(2);
  const names = queries.flatMap(([, item]) =>
    [...objectsOf(item)].flatMap(([, { $ref }]) =>
      typeof $ref === 'string' && $ref.includes('/parameters/') ? [$ref.split('/').at(-1)!] : [],
    ),
  );
  expect(names).toContain('offset');
  const given = [...queries.map(([, item]) => item), ...names.map((name) => parameters[name]!)];
  const withDefault = given.flatMap((one) => [...objectsOf(one)].filter(([, member]) => 'default' in member));
  expect(withDefault.filter(([path]) => !path.includes('/responses'))).toEqual([]);
});

it('describes writes without a body where that is asked for', () => {
  const minimal = openApiDocument(groups, 'http://127.0.0.1', 'minimal');
  const created = (one: JsonObject): JsonObject =>
    (one.paths as Record<string, { post: { responses: Record<string, JsonObject> } }>)[
      '/rest/openehr/v1/ehr/{ehr_id}/composition'
    ]!.post.responses['201']!;
  expect(created(minimal).content).toBeUndefined();
  expect(Object.keys(created(document).content as object)).toContain('application/json');
});
