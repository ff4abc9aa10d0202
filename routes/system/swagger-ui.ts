import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Context } from 'koa';
import { CdrError } from '../../openehr/base/errors.js';
import type { Operation, OperationGroup } from '../http/operation/operation.js';
import { pathParameter } from '../http/request/parameter-values.js';
import { openApiDocument } from '../http/openapi/openapi-document.js';

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
  const contents = new Map<string, Buffer>();
  const page = { method: 'GET', access: 'open', audit: 'none', isDocumented: false, errors: [] } as const;
  return [
    {
      ...page,
      id: 'swagger_ui_page',
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
      path: '/swagger-ui/{file}',
      summary: 'Get a file of the page',
      responses: { 200: { description: 'The file', body: { schema: 'Text', types: 'text' } } },
      handle: (ctx) => {
        answerFile(ctx, pathParameter(ctx, 'file'), contents);
      },
    },
  ];
}

function answerFile(ctx: Context, name: string, contents: Map<string, Buffer>): void {
  if (name === 'initializer.js') {
    ctx.type = 'text/javascript; charset=utf-8';
    ctx.body = INITIALIZER;
    return;
  }
  if (!Object.hasOwn(FILES, name)) throw new CdrError('not-found', 'the page has no such file');
  const content = contents.get(name) ?? readFileSync(resolveModule(`swagger-ui-dist/${name}`));
  contents.set(name, content);
  ctx.set('Cache-Control', 'public, max-age=86400');
  ctx.type = `${FILES[name as keyof typeof FILES]}; charset=utf-8`;
  ctx.body = content;
}

/** The description of the whole API, open to everyone: it discloses nothing that the product's sources do not. */
export function openapiOperation(groups: () => readonly OperationGroup[]): Operation {
  return {
    id: 'openapi_get',
    method: 'GET',
    path: '/rest/openapi.json',
    summary: 'Get this document',
    access: 'open',
    audit: 'none',
    responses: { 200: { description: 'OpenAPI 3.1', body: { schema: 'Object', types: 'json' } } },
    errors: [],
    handle: (ctx) => {
      ctx.body = openApiDocument(groups(), ctx.state.baseUrl);
    },
  };
}
