import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import Router from '@koa/router';

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
export function swaggerUiRoutes(): Router {
  const router = new Router();
  router.get('/swagger-ui.html', (ctx) => {
    ctx.type = 'text/html; charset=utf-8';
    ctx.body = PAGE;
  });
  router.get('/swagger-ui/initializer.js', (ctx) => {
    ctx.type = 'text/javascript; charset=utf-8';
    ctx.body = INITIALIZER;
  });
  for (const [name, type] of Object.entries(FILES)) {
    let content: Buffer | null = null;
    router.get(`/swagger-ui/${name}`, (ctx) => {
      content ??= readFileSync(createRequire(import.meta.url).resolve(`swagger-ui-dist/${name}`));
      ctx.set('Cache-Control', 'public, max-age=86400');
      ctx.type = `${type}; charset=utf-8`;
      ctx.body = content;
    });
  }
  return router;
}
