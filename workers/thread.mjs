// The program of a worker thread. After a build jobs.js lies beside this file; in a working copy tsx compiles jobs.ts.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const built = new URL('./jobs.js', import.meta.url);
const isBuilt = existsSync(fileURLToPath(built));
if (!isBuilt) (await import('tsx/esm/api')).register();
const jobs = await import(isBuilt ? built.href : new URL('./jobs.ts', import.meta.url).href);

/** Runs the job that a request names. */
export default ({ job, request }) => jobs[job](request);
