import { Command } from 'commander';
import { configFromEnvironment } from '../src/config.js';
import { demoClient } from '../src/demo/client.js';
import { loadDemoData, type LoadPlan } from '../src/demo/load.js';
import { createLogger } from '../src/logger.js';
import { startServer } from '../src/start.js';
import { benchMainJob } from './main-job.js';
import { machine } from './measure.js';

/** `npm run bench`: builds a data set over HTTP, then measures. Options: `--ehrs`, `--compositions`, `--seed`. */
async function main(): Promise<void> {
  const options = new Command('bench')
    .option('--ehrs <number>', 'EHRs', '1000')
    .option('--compositions <number>', 'compositions of each EHR', '20')
    .option('--seed <number>', 'seed of the made-up data', '20260105')
    .parse()
    .opts<{ ehrs: string; compositions: string; seed: string }>();
  const plan: LoadPlan = {
    ehrs: Number(options.ehrs),
    compositionsPerEhr: Number(options.compositions),
    seed: Number(options.seed),
    parallel: 8,
  };
  const settings = configFromEnvironment({ EMBEDDED_DATA_DIR: 'temporary', PORT: '0', LOG_LEVEL: 'warn' });
  const server = await startServer(settings, createLogger(settings.logLevel));
  try {
    print(`${machine()}\n${server.database.description}`);
    const start = performance.now();
    const ehrIds = await loadDemoData(demoClient(server.url), plan, () => undefined);
    const count = plan.ehrs * plan.compositionsPerEhr;
    const seconds = (performance.now() - start) / 1000;
    print(
      `${plan.ehrs} EHRs, ${count} compositions, seed ${plan.seed}: ${seconds.toFixed(1)} s, ${Math.round(count / seconds)}/s\n`,
    );
    await benchMainJob({ url: server.url, ehrIds, plan }, print);
  } finally {
    await server.close();
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

await main();
