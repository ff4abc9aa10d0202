import { configFromEnvironment } from './config.js';
import { createLogger } from './logger.js';
import { startServer } from './start.js';

/** `npm start`: runs until SIGTERM or SIGINT, then ends running requests first. */
async function main(): Promise<void> {
  const settings = configFromEnvironment();
  const log = createLogger(settings.logLevel);
  const server = await startServer(settings, log);
  let stopping = false;
  const stop = (signal: string): void => {
    if (stopping) return;
    stopping = true;
    log.info(`${signal}: shutting down`);
    server.close().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ err: error }, 'the shutdown failed');
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', stop).on('SIGINT', stop);
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
