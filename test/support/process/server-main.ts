import { runServer } from '../../../src/process/cluster.js';

/** The server in a process of its own, which reads no `.env`. */
runServer().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
