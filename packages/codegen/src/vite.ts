import { readConfig, type FoundConfig } from './command/config.js';
import { generate, watchedOf } from './command/run.js';
import { remoteServer } from './command/server.js';
import { workOnChanges } from './command/watch.js';

/** What of Vite's configuration is read; the package itself needs no Vite. */
interface ViteConfig {
  readonly root: string;
  readonly command: 'build' | 'serve';
  readonly logger: { error(message: string): void };
}

/** What of Vite's server for development is used. */
interface ViteServer {
  readonly ws: {
    send(message: { type: 'error'; err: { message: string; stack: string } } | { type: 'full-reload' }): void;
  };
}

/** The plug-in as Vite takes it. */
export interface CodegenPlugin {
  readonly name: string;
  configResolved(config: ViteConfig): void;
  buildStart(this: { addWatchFile(file: string): void }): Promise<void>;
  configureServer(server: ViteServer): Promise<void>;
  closeBundle(): void;
}

/**
 * Writes what `everchart.config.ts` names when Vite starts, and again whenever a template or query of it changes; a mistake ends
 * a build, and stands over the page in development. `EVERCHART_URL` and `EVERCHART_TOKEN` name a server where no files are.
 * `config`: another configuration than that of Vite's root.
 */
export default function everchart({ config: file }: { readonly config?: string } = {}): CodegenPlugin {
  let vite: ViteConfig;
  const found = memoized(() => readConfig(file, vite.root));
  const write = async (): Promise<void> => {
    const configured = await found();
    await generate(configured, targetOf(configured), remoteServer);
  };
  const closed = new AbortController();
  return {
    name: 'everchart-codegen',
    configResolved(config) {
      vite = config;
    },
    async buildStart() {
      // A server for development looks for changes by itself.
      if (vite.command !== 'build') return;
      for (const path of watchedOf(await found())) this.addWatchFile(path);
      await write();
    },
    async configureServer(server) {
      const configured = await found();
      const work = telling(write, server, vite.logger);
      // Vite goes on once all is written; what looks for changes goes on beside it.
      await new Promise<void>((resolve) => {
        const step = (): Promise<void> => work().then(resolve);
        void workOnChanges(() => watchedOf(configured), step, closed.signal);
      });
    },
    closeBundle() {
      closed.abort();
    },
  };
}

/** Work whose mistakes are told in the log and over the page, until it succeeds. */
function telling(
  work: () => Promise<void>,
  server: ViteServer,
  logger: ViteConfig['logger'],
): () => Promise<void> {
  let isWrong = false;
  return async () => {
    try {
      await work();
      // What is as it was before the mistake wakes nobody.
      if (isWrong) server.ws.send({ type: 'full-reload' });
      isWrong = false;
    } catch (error) {
      isWrong = true;
      const message = error instanceof Error ? error.message : String(error);
      logger.error(message);
      server.ws.send({ type: 'error', err: { message, stack: '' } });
    }
  };
}

/** The server that the configuration names, else the environment. */
function targetOf({ config }: FoundConfig): Parameters<typeof generate>[1] {
  const { EVERCHART_URL, EVERCHART_TOKEN: token } = process.env;
  const url = config.url ?? EVERCHART_URL;
  return { isQuiet: true, ...(url !== undefined && { url }), ...(token !== undefined && { token }) };
}

function memoized<T>(get: () => Promise<T>): () => Promise<T> {
  let got: Promise<T> | undefined;
  return () => (got ??= get());
}
