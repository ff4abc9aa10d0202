import { resolve } from 'node:path';
import { readConfig, type FoundConfig } from './command/config.js';
import { generate, namedBy, watchedOf } from './command/run.js';
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
  readonly config: ViteConfig;
  readonly ws: {
    send(message: { type: 'error'; err: { message: string; stack: string } } | { type: 'full-reload' }): void;
  };
}

/** What of the context of Vite's hooks says which server or build it is about. */
interface ViteContext {
  readonly environment: { getTopLevelConfig(): object };
}

/** The plug-in as Vite takes it. */
export interface CodegenPlugin {
  readonly name: string;
  configResolved(config: ViteConfig): void;
  buildStart(this: { addWatchFile(file: string): void }): Promise<void>;
  configureServer(server: ViteServer): Promise<void>;
  closeBundle(this: ViteContext): void;
}

/**
 * Writes what `everchart.config.ts` names when Vite starts, and again whenever a template or query of it changes; a mistake ends
 * a build, and stands over the page in development. `EVERCHART_URL` and `EVERCHART_TOKEN` name a server where no files are.
 * `config`: another configuration than that of Vite's root, from which a path starts.
 */
export default function everchart({ config: file }: { readonly config?: string } = {}): CodegenPlugin {
  let vite: ViteConfig;
  const configurationIn = (root: string): Promise<FoundConfig> =>
    readConfig(file === undefined ? undefined : resolve(root, file), root);
  // Vite starts its server anew with the same plug-in, and ends the old one after that.
  const servers = new WeakMap<object, AbortController>();
  return {
    name: 'everchart-codegen',
    configResolved(config) {
      vite = config;
    },
    async buildStart() {
      // A server for development looks for changes by itself.
      if (vite.command !== 'build') return;
      const configured = await configurationIn(vite.root);
      for (const path of [...namedBy(configured), ...watchedOf(configured)]) this.addWatchFile(path);
      await write(configured);
    },
    async configureServer(server) {
      const configured = await configurationIn(server.config.root);
      const closed = new AbortController();
      servers.set(server.config, closed);
      const work = telling(() => write(configured), server);
      // Vite goes on once all is written; what looks for changes goes on beside it.
      await new Promise<void>((written) => {
        const step = (): Promise<void> => work().then(written);
        void workOnChanges(() => watchedOf(configured), step, closed.signal);
      });
    },
    closeBundle() {
      servers.get(this.environment.getTopLevelConfig())?.abort();
    },
  };
}

function write(configured: FoundConfig): Promise<void> {
  return generate(configured, targetOf(configured), remoteServer);
}

/** Work whose mistakes are told in the log and over the page, until it succeeds. */
function telling(work: () => Promise<void>, server: ViteServer): () => Promise<void> {
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
      server.config.logger.error(message);
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
