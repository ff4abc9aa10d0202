import { sealNewRecords } from '../maintenance/seal.js';
import { configFromEnvironment } from '../src/settings/config.js';
import { demoClient, inParallel, patientCompositions } from '../cli/demo/load.js';
import { templateText } from '../cli/demo/patient.js';
import { createLogger } from '../src/logger.js';
import { keepSealing, startServer } from '../src/process/start.js';
import { timing } from './measure.js';

const COMMITS = 800;
const CLIENTS = 4;
const ROUNDS = 12;
/** Shorter than the default, so that the work of several runs is in each window. */
const INTERVAL_MS = 1_000;

/**
 * Commits without and with the sealer beside them, in turns; what it seals of a window, to the last record, counts in
 * that window. Prints the times and the ratio.
 */
export async function benchSeal(print: (line: string) => void): Promise<void> {
  const settings = configFromEnvironment({
    EMBEDDED_DATA_DIR: 'temporary',
    PORT: '0',
    LOG_LEVEL: 'warn',
    SEAL_INTERVAL_MS: '0',
  });
  const log = createLogger(settings.logLevel);
  const server = await startServer(settings, log);
  try {
    print(server.database.description);
    const client = demoClient(server.url);
    await client.uploadTemplate(templateText('ehrbase_blood_pressure_simple.de.v0'));
    const ehrIds = await Promise.all(Array.from({ length: CLIENTS }, () => client.createEhr()));
    const [composition] = patientCompositions({ ehrs: 1, compositionsPerEhr: 1, seed: 1, parallel: 1 }, 0);
    if (composition === undefined) throw new Error('the plan has no compositions');
    const window = async (): Promise<void> => {
      await inParallel(COMMITS, CLIENTS, async (run) => {
        await client.commitComposition(ehrIds[run % CLIENTS] ?? '', composition);
      });
    };
    const alone: number[] = [];
    const beside: number[] = [];
    const without = async (): Promise<number> => {
      const ms = await milliseconds(window);
      await sealNewRecords();
      return ms;
    };
    const withSealer = (): Promise<number> =>
      milliseconds(async () => {
        const stop = keepSealing(log, INTERVAL_MS);
        await window();
        await stop();
        await sealNewRecords();
      });
    await without();
    await withSealer();
    for (let round = 0; round < ROUNDS; round += 1) {
      const isFirst = round % 2 === 0;
      if (isFirst) alone.push(await without());
      beside.push(await withSealer());
      if (!isFirst) alone.push(await without());
    }
    const [off, on] = [timing('without', alone).medianMs, timing('with', beside).medianMs];
    const paired = timing(
      'ratio',
      beside.map((ms, round) => ms / (alone[round] ?? Number.NaN)),
    ).medianMs;
    print(
      `${COMMITS} commits of ${CLIENTS} clients: ${off.toFixed(0)} ms, with the sealer ${on.toFixed(0)} ms`,
    );
    print(
      `ratio of medians ${(on / off).toFixed(3)}, median of the ratios of neighbours ${paired.toFixed(3)}`,
    );
  } finally {
    await server.close();
  }
}

async function milliseconds(work: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}
