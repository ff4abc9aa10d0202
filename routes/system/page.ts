import { randomBytes } from 'node:crypto';
import type { Context } from 'koa';

const STYLE = `:root { color-scheme: light dark; font: 15px/1.55 system-ui, sans-serif; }
body { max-width: 38rem; margin: 12vh auto 4rem; padding: 0 1.25rem; color: light-dark(#1c2426, #d8dfe0); background: light-dark(#fff, #14191b); }
h1 { font-size: 1.5rem; font-weight: 600; margin: 0 0 .25rem; }
h2 { font-size: .95rem; font-weight: 600; margin: 2rem 0 .5rem; }
a { color: light-dark(#0b6e69, #4fc3b8); text-underline-offset: .2em; }
ul { list-style: none; margin: 1.5rem 0; padding: 0; }
li { padding: .6rem 0; border-top: 1px solid light-dark(#e3e8e8, #2a3234); }
li a { font-weight: 600; }
p, li { color: light-dark(#4a5658, #a5b0b2); }
pre, code { font: 13px/1.6 ui-monospace, monospace; }
pre { overflow-x: auto; padding: .75rem 1rem; border-radius: 6px; background: light-dark(#f2f5f5, #1c2325); color: light-dark(#1c2426, #d8dfe0); }`;

/** Answers a small page of our own text, without script; `body` is HTML. */
export function answerPage(
  ctx: Context,
  { title, body }: { readonly title: string; readonly body: string },
): void {
  const nonce = randomBytes(16).toString('base64');
  ctx.set(
    'Content-Security-Policy',
    `default-src 'none';style-src 'nonce-${nonce}';base-uri 'none';form-action 'none';frame-ancestors 'none'`,
  );
  ctx.type = 'text/html; charset=utf-8';
  ctx.body = `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>${title}</title>
  <style nonce="${nonce}">${STYLE}</style>
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`;
}
