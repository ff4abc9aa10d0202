import type { Operation } from '../http/operation/operation.js';
import type { RequestState } from '../http/request/request-state.js';
import { answerPage } from './page.js';
import { PRODUCT, PRODUCT_VERSION } from '../http/product.js';

const body = ({ baseUrl, origin }: RequestState): string => `<h1>${PRODUCT}</h1>
<p>An openEHR clinical data repository, version ${PRODUCT_VERSION}.</p>
<ul>
<li><a href="${baseUrl}/console">Console</a><br>Patients, compositions, queries, templates</li>
<li><a href="${baseUrl}/swagger-ui.html">API documentation</a><br>Every operation, to read and to try;
as <a href="${baseUrl}/rest/openapi.json">OpenAPI</a> for tools</li>
<li><a href="${origin}/management/health/readiness">Health</a><br>Whether this server takes requests</li>
</ul>
<h2>First steps</h2>
<pre>curl -X POST ${baseUrl}/rest/openehr/v1/ehr
curl -X POST ${baseUrl}/rest/openehr/v1/query/aql \\
  -H 'Content-Type: application/json' \\
  -d '{"q":"SELECT e/ehr_id/value FROM EHR e"}'</pre>`;

/** The page at the root: where everything is. */
export function welcomeOperation(): Operation {
  return {
    id: 'welcome_page',
    discloses: 'nothing',
    method: 'GET',
    path: '/',
    summary: 'Get a page with links to everything',
    access: 'open',
    audit: 'none',
    isDocumented: false,
    responses: { 200: { description: 'The page', body: { schema: 'Text', types: 'html' } } },
    errors: [],
    handle: (ctx) => {
      answerPage(ctx, { title: PRODUCT, body: body(ctx.state) });
    },
  };
}
