import { describe, expect, it } from '@jest/globals';
import request from 'supertest';

import type { JsonObject } from '../../../openehr/base/json.js';
import { exampleOf } from '../../../routes/http/openapi/examples.js';
import { MEDIA_TYPES } from '../../../routes/http/operation/operation.js';
import { everyOperation } from '../../../src/operation-table.js';
import { testApp } from '../../support/app.js';

const { operations } = everyOperation();

async function servedDocument(): Promise<JsonObject> {
  const answer = await request(testApp()).get('/rest/openapi.json');
  expect([answer.status, answer.headers['content-type']]).toEqual([200, 'application/json; charset=utf-8']);
  return answer.body as JsonObject;
}

/** Every `$ref` in a value. */
function referencesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) =>
    key === '$ref' ? [String(member)] : referencesIn(member),
  );
}

describe('the OpenAPI document', () => {
  it('is served without a token, with the address of the server', async () => {
    const answer = await request(testApp({ auth: 'jwt', allowedHosts: ['cdr.example.org'] }))
      .get('/rest/openapi.json')
      .set('Host', 'cdr.example.org');
    expect(answer.body).toMatchObject({ openapi: '3.1.0', servers: [{ url: 'http://cdr.example.org' }] });
    expect((await request(testApp()).head('/rest/openapi.json')).status).toBe(200);
    expect((await request(testApp()).put('/rest/openapi.json')).status).toBe(405);
  });

  it('names every operation once', () => {
    const ids = operations.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('refers only to what it describes, and describes only what it refers to', async () => {
    const document = await servedDocument();
    const components = document.components as Record<string, JsonObject>;
    const described = ['schemas', 'parameters', 'responses'].flatMap((kind) =>
      Object.keys(components[kind] ?? {}).map((name) => `#/components/${kind}/${name}`),
    );
    expect(new Set(referencesIn(document))).toEqual(new Set(described));
  });

  it('describes every parameter of a path', async () => {
    const { paths, components } = await servedDocument();
    const parameterOf = ({ $ref }: JsonObject): JsonObject =>
      (components as { parameters: Record<string, JsonObject> }).parameters[
        ($ref as string).split('/').at(-1)!
      ]!;
    for (const [path, item] of Object.entries(paths as JsonObject)) {
      const names = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
      for (const operation of Object.values(item as JsonObject) as JsonObject[]) {
        const parameters = (operation.parameters as JsonObject[]).map(parameterOf);
        const described = parameters.filter((parameter) => parameter.in === 'path');
        expect(described.map(({ name }) => name)).toEqual(names);
        for (const { description, name } of described) expect(description).not.toBe(name);
      }
    }
  });

  it('shows an example of every body, in every media type', () => {
    const without = operations
      .filter(({ isDocumented = true }) => isDocumented)
      .flatMap(({ id, request: body }) =>
        body === undefined
          ? []
          : MEDIA_TYPES[body.types]
              .filter((type) => exampleOf(body.schema, type) === undefined)
              .map((type) => `${id} ${type}`),
      );
    expect(without).toEqual([]);
  });

  it('gives every operation an answer, and each failure the error body', async () => {
    const { paths, components } = await servedDocument();
    for (const item of Object.values(paths as JsonObject) as JsonObject[])
      for (const operation of Object.values(item) as JsonObject[])
        expect(Object.keys(operation.responses as JsonObject).length).toBeGreaterThan(0);
    for (const response of Object.values((components as Record<string, JsonObject>).responses!))
      expect(JSON.stringify(response)).toContain('#/components/schemas/Error');
  });
});
