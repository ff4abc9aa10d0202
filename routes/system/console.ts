import { randomBytes } from 'node:crypto';
import { extname } from 'node:path';
import type { Context } from 'koa';
import type { OidcSettings, Settings } from '../../config/settings.js';
import { CdrError } from '../../openehr/base/errors.js';
import type { Operation } from '../http/operation/operation.js';
import { pathParameter } from '../http/parameter-values.js';
import { NONCE_PLACEHOLDER, readConsoleFiles, type ConsoleFiles } from './console-files.js';
import { answerPage } from './page.js';

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};
/** The name of an asset holds a hash of its content. */
const FOREVER = 'public, max-age=31536000, immutable';
const PAGE = {
  method: 'GET',
  access: 'open',
  audit: 'none',
  isDocumented: false,
  errors: [],
} as const;

const NOT_BUILT = `<h1>The console is not built</h1>
<p>This server runs from sources without Vite, or without the sources of the console. Run
<code>npm ci</code> and <code>npm run build:console</code>, then start the server again.</p>`;

/** The console at `/console`, with everything it needs from this server: docs/spec/rest.md#console */
export function consoleOperations(settings: Settings): Operation[] {
  let files: ConsoleFiles | null | undefined;
  const built = (): ConsoleFiles | null => (files ??= readConsoleFiles());
  return [
    {
      ...PAGE,
      id: 'console_page',
      discloses: 'nothing',
      path: '/console',
      summary: 'Get the console',
      responses: { 200: { description: 'The page', body: { schema: 'Text', types: 'html' } } },
      handle: (ctx) => {
        answerConsole(ctx, built(), settings.oidc);
      },
    },
    {
      ...PAGE,
      id: 'console_file',
      discloses: 'nothing',
      path: '/console/assets/{file}',
      summary: 'Get a file of the console',
      responses: { 200: { description: 'The file', body: { schema: 'Text', types: 'text' } } },
      handle: (ctx) => answerAsset(ctx, built()),
    },
    {
      ...PAGE,
      id: 'console_settings',
      discloses: 'nothing',
      path: '/console/settings.json',
      summary: 'Get how to sign in to the console',
      responses: { 200: { description: 'The settings', body: { schema: 'Object', types: 'json' } } },
      handle: (ctx) => {
        ctx.body = {
          auth: settings.auth,
          has_passwords: settings.basicUsersFile !== null,
          oidc: settings.oidc && { issuer: settings.oidc.issuer, client_id: settings.oidc.clientId },
          administration: settings.adminApiActive,
          access_mode: settings.accessMode,
          policies_take_two: settings.fourEyes.includes('policy'),
          territory: settings.consoleTerritory,
          idle_minutes: settings.consoleIdleMinutes,
          banner_paths: settings.patientBannerPaths,
          largest_document_bytes: settings.maxCompositionBytes,
        };
      },
    },
  ];
}

function answerConsole(ctx: Context, files: ConsoleFiles | null, oidc: OidcSettings | null): void {
  if (files === null) {
    answerPage(ctx, { title: 'everchart', body: NOT_BUILT });
    ctx.status = 404;
    return;
  }
  const nonce = randomBytes(16).toString('base64');
  ctx.set(
    'Content-Security-Policy',
    [
      "default-src 'none'",
      "script-src 'self'",
      `style-src 'self' 'nonce-${nonce}'`,
      "img-src 'self' data:",
      // Where the console signs in, and nowhere else.
      `connect-src 'self'${oidc === null ? '' : ` ${new URL(oidc.issuer).origin}`}`,
      "form-action 'none'",
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ].join(';'),
  );
  ctx.type = 'text/html; charset=utf-8';
  // With a trailing slash the page lies one folder deeper. Relative, so that a proxy may put a prefix before everything.
  const folder = ctx.path.endsWith('/') ? './' : './console/';
  ctx.body = files.page.replaceAll(NONCE_PLACEHOLDER, nonce).replaceAll('"./', `"${folder}`);
}

/** Only what was there when the server read the folder has a name here: no path leads out of it. */
async function answerAsset(ctx: Context, files: ConsoleFiles | null): Promise<void> {
  const name = pathParameter(ctx, 'file');
  const content = files?.assets.get(name);
  if (content === undefined) throw new CdrError('not-found', 'the console has no such file');
  ctx.set('Cache-Control', FOREVER);
  ctx.type = TYPES[extname(name)] ?? 'application/octet-stream';
  await content.answer(ctx);
}
