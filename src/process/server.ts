import { runServer } from './run-server.js';

/** The server without the command line: `node dist/src/server.js`. */
runServer().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
