import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Context } from 'koa';
import type { ItsRest } from '../../openehr/base/dialect.js';
import { CdrError } from '../../openehr/base/errors.js';
import type { Operation, OperationGroup } from '../http/operation/operation.js';
import { pathParameter, queryParameter } from '../http/parameter-values.js';
import { openApiDocument } from '../http/openapi-document.js';
import { keptBody, type KeptBody } from '../http/answer/kept-body.js';

const { resolve: resolveModule } = createRequire(import.meta.url);

const FILES = {
  'swagger-ui-bundle.js': 'text/javascript',
  'swagger-ui-standalone-preset.js': 'text/javascript',
  'swagger-ui.css': 'text/css',
} as const;

const PAGE = `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>everchart API</title>
  <link rel="stylesheet" href="swagger-ui/swagger-ui.css">
</head>
<body>
  <div id="swagger-ui"></div>
  <script src="swagger-ui/swagger-ui-bundle.js"></script>
  <script src="swagger-ui/swagger-ui-standalone-preset.js"></script>
  <script src="swagger-ui/initializer.js"></script>
</body>
</html>
`;

/** A file of its own: the content security policy allows no script in the page. */
const INITIALIZER = `window.onload = () => {
  window.ui = window.SwaggerUIBundle({
    url: 'rest/openapi.json',
    dom_id: '#swagger-ui',
    deepLinking: true,
    presets: [window.SwaggerUIBundle.presets.apis, window.SwaggerUIStandalonePreset],
    layout: 'StandaloneLayout',
  });
};
`;

/** The API documentation page `/swagger-ui.html` with everything it needs, served by this server alone. */
export function swaggerUiOperations(): Operation[] {
  const contents = new Map<string, KeptBody>();
  const page = { method: 'GET', access: 'open', audit: 'none', isDocumented: false, errors: [] } as const;
  return [
    {
      ...page,
      id: 'swagger_ui_page',
      discloses: 'nothing',
      path: '/swagger-ui.html',
      summary: 'Get the page that shows the API',
      responses: { 200: { description: 'The page', body: { schema: 'Text', types: 'html' } } },
      handle: (ctx) => {
        ctx.type = 'text/html; charset=utf-8';
        ctx.body = PAGE;
      },
    },
    {
      ...page,
      id: 'swagger_ui_file',
      discloses: 'nothing',
      path: '/swagger-ui/{file}',
      summary: 'Get a file of the page',
      responses: { 200: { description: 'The file', body: { schema: 'Text', types: 'text' } } },
      handle: (ctx) => answerFile(ctx, pathParameter(ctx, 'file'), contents),
    },
    {
      ...page,
      id: 'api_docs',
      discloses: 'nothing',
      path: '/v3/api-docs',
      summary: 'Go to the description of the API, from where EHRbase has its own',
      responses: { 302: { description: 'The description' } },
      handle: (ctx) => {
        ctx.redirect('../rest/openapi.json');
      },
    },
  ];
}

/** A build has them beside this file: of the package, which tells its makers who installs it, three files are needed. */
function pathOf(name: string): URL | string {
  const built = new URL(`./swagger-ui/${name}`, import.meta.url);
  return existsSync(built) ? built : resolveModule(`swagger-ui-dist/${name}`);
}

async function answerFile(ctx: Context, name: string, contents: Map<string, KeptBody>): Promise<void> {
  if (name === 'initializer.js') {
    ctx.type = 'text/javascript; charset=utf-8';
    ctx.body = INITIALIZER;
    return;
  }
  if (name === 'index.html') {
    ctx.redirect('../swagger-ui.html');
    return;
  }
  if (!Object.hasOwn(FILES, name)) throw new CdrError('not-found', 'the page has no such file');
  const content = contents.get(name) ?? keptBody(readFileSync(pathOf(name)));
  contents.set(name, content);
  ctx.set('Cache-Control', 'public, max-age=86400');
  ctx.type = `${FILES[name as keyof typeof FILES]}; charset=utf-8`;
  await content.answer(ctx);
}

/** Stands where the address of the server has to, and nowhere else in the document. */
const SERVER_PLACE = 'https://address-of-this-server.invalid';
/** Addresses for which the document is kept compressed: those that clients make up beyond them get it as it is. */
const KEPT_ADDRESSES = 8;

/** One description of the API for each address of the server, made once. */
class Description {
  readonly #kept = new Map<string, KeptBody>();
  #parts: readonly [before: string, after: string] | null = null;

  constructor(
    private readonly groups: () => readonly OperationGroup[],
    private readonly writes: 'any' | 'minimal',
    private readonly edition: ItsRest,
  ) {}

  async answer(ctx: Context): Promise<void> {
    const { baseUrl } = ctx.state;
    ctx.type = 'application/json; charset=utf-8';
    const kept = this.#kept.get(baseUrl);
    if (kept !== undefined) {
      await kept.answer(ctx);
      return;
    }
    const text = Buffer.from(this.#textFor(baseUrl));
    if (this.#kept.size >= KEPT_ADDRESSES) {
      ctx.compress = false;
      ctx.body = text;
      return;
    }
    const body = keptBody(text);
    this.#kept.set(baseUrl, body);
    await body.answer(ctx);
  }

  #textFor(baseUrl: string): string {
    const { edition, groups, writes } = this;
    this.#parts ??= partsOf(JSON.stringify(openApiDocument(groups(), SERVER_PLACE, writes, edition)));
    return this.#parts.join(JSON.stringify(baseUrl).slice(1, -1));
  }
}

function partsOf(document: string): readonly [string, string] {
  const at = document.indexOf(SERVER_PLACE);
  return [document.slice(0, at), document.slice(at + SERVER_PLACE.length)];
}

/** The description of the whole API, open to everyone: it discloses nothing that the product's sources do not. */
export function openapiOperation(groups: () => readonly OperationGroup[], edition: ItsRest): Operation {
  const descriptions = {
    any: new Description(groups, 'any', edition),
    minimal: new Description(groups, 'minimal', edition),
  };
  return {
    id: 'openapi_get',
    discloses: 'nothing',
    method: 'GET',
    path: '/rest/openapi.json',
    summary: 'Get this document',
    access: 'open',
    audit: 'none',
    parameters: ['writes'],
    responses: { 200: { description: 'OpenAPI 3.1', body: { schema: 'Object', types: 'json' } } },
    errors: [400],
    handle: (ctx) => descriptions[queryParameter(ctx, 'writes') ?? 'any'].answer(ctx),
  };
}
