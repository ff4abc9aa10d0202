import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { onEvent } from '../../database/events.js';
import type { Settings } from '../../config/settings.js';
import { connectDatabase, type DatabaseHandle } from '../../database/connect.js';
import { resumeErasures } from '../../maintenance/erase.js';
import { removeExpiredDrafts } from '../../models/draft.js';
import { removeExpiredRequests } from '../../models/idempotency.js';
import { closeEvaluators } from '../../workers/evaluation.js';
import { closePool } from '../../workers/large-body.js';
import { closeTranslators } from '../../workers/translation.js';
import { recordActivity } from '../activity.js';
import { keepDay, recordDay } from '../day.js';
import type { LocalDatabase } from '../../database/local-source.js';
import { createApp, type ProcessView } from '../app.js';
import { publishMetrics } from '../management/cluster-metrics.js';
import { openDoors, type Doors } from '../doors.js';
import { createMetrics } from '../metrics.js';
import { startTracing, type Tracing } from '../tracing/tracing.js';
import { logSlowQueries } from '../logger.js';
import { prepareStorage, logStorageState } from './storage.js';
import { timeAheadOfClock } from '../../models/cross-collection/newest-time.js';
import { CLOCK_BEHIND } from '../../routes/system/management.js';
import { isUnenforced } from '../../change/policy/unenforced.js';
import { commitClock } from '../../change/commit/commit-clock.js';
import { openKeyRing } from '../../change/commit/key-ring.js';
import { AuditDraft, withAuditDraft } from '../../change/commit/audit-draft.js';
import { endLapsed, lapsedActs } from '../../change/approval/approval.js';
import { lapsedMergeRequests } from '../../merge/approval.js';
import { finaliseOldMerges } from '../../merge/finalise.js';
import { resumeMerges } from '../../merge/steps.js';
import { sealNewRecords } from '../../maintenance/seal.js';

const HOUR_MS = 3_600_000;

/** A server that listens. */
export interface RunningServer {
  /** `http://host:port`, without trailing slash. */
  readonly url: string;
  /** Where /management is served alone (`MANAGEMENT_PORT`), in the same form; null: with everything else. */
  readonly managementUrl: string | null;
  readonly database: DatabaseHandle;
  /** Stops taking requests, lets running ones end within `SHUTDOWN_TIMEOUT_MS`, then leaves the database. */
  close(): Promise<void>;
}

/** What a start may be given beside the settings. */
interface StartOptions {
  /** This process replaces a dead worker of a cluster whose others still serve the port: it listens only when it is ready. */
  readonly joins?: boolean;
  /** A local database that is starting already; it belongs to the server from here on, also when the start fails. */
  readonly local?: Promise<LocalDatabase>;
}

/**
 * Connects the database, listens, and builds collections and indexes; until they stand every request but
 * liveness and readiness is answered 503.
 * @throws Error when no database can be had, the system id differs from the stored one, the port is taken, or keys or
 * proxies of the settings cannot be read
 */
export async function startServer(
  settings: Settings,
  log: Logger,
  { joins = false, local }: StartOptions = {},
): Promise<RunningServer> {
  const tracing = await startTracing(settings, log);
  const process = beginning(tracing);
  const doors = await doorsOf(settings, log, process, local);
  publishMetrics(process.metrics.registry);
  const logLine = (line: string): void => {
    log.info(line);
  };
  const database = await connectDatabase(settings.database, logLine, local);
  try {
    if (!joins) await doors.listen();
    const stopAwaiting = logStorageState(log, await prepareStorage(settings));
    await lookAround(settings, log);
    await commitClock.join();
    process.state.indexesBuilt = true;
    if (joins) await doors.listen();
    const sweep = sweepExpired(log);
    const stopDay = keepDay(process.day, log);
    const stopLoggingQueries = logSlowQueries(log, settings.slowQueryMs);
    const stopSealing = keepSealing(log, settings.sealIntervalMs);
    const stopMerging = keepEndingMerges(log);
    const stopFinalising = keepFinalising(log, settings.mergeReversibleDays);
    const stopLapsing = keepEndingLapsed(log);
    void finishErasures(log);
    warnOfUncheckedCodes(log);
    warnOfErasuresLeft(log);
    const stop = async (): Promise<void> => {
      process.state.stopping = true;
      clearInterval(sweep);
      stopDay();
      stopAwaiting();
      stopLoggingQueries();
      await doors.close(settings.shutdownTimeoutMs);
      await Promise.all([stopSealing(), stopMerging(), stopFinalising(), stopLapsing()]);
      await Promise.all([closePool(), closeEvaluators(), closeTranslators()]);
      await commitClock.leave();
      await database.close();
      await tracing?.close();
    };
    return { ...doors.addresses(), database, close: stop };
  } catch (error) {
    doors.abandon();
    await database.close();
    throw error;
  }
}

/** What the process shows of itself before it is ready. */
function beginning(tracing: Tracing | null): ProcessView {
  const metrics = createMetrics({ ofProcess: true });
  return {
    metrics,
    day: recordDay(metrics.registry),
    state: { indexesBuilt: false, stopping: false },
    activity: recordActivity(),
    ...(tracing !== null && { trace: tracing.middleware }),
  };
}

/** Ends a database that is starting when the settings cannot be used. @throws Error for them */
async function doorsOf(
  settings: Settings,
  log: Logger,
  process: ProcessView,
  local: Promise<LocalDatabase> | undefined,
): Promise<Doors> {
  try {
    await openKeyRing(settings);
    const handle = createApp(settings, log, process).callback();
    return openDoors(settings, (request, response) => void handle(request, response));
  } catch (error) {
    await (await local?.catch(() => null))?.stop();
    throw error;
  }
}

/** The embedded engine has no monitor for TTL indexes: what has expired goes by our own hand, hourly. */
function sweepExpired(log: Logger): NodeJS.Timeout {
  const timer = setInterval(() => {
    const now = new Date();
    Promise.all([removeExpiredRequests(now), removeExpiredDrafts(now)]).catch((error: unknown) => {
      log.warn({ err: error }, 'expired idempotency keys and drafts were not removed');
    });
  }, HOUR_MS);
  return timer.unref();
}

/** What an operator is to know of the database before anybody is served. @throws as `requireMinding` */
async function lookAround(settings: Settings, log: Logger): Promise<void> {
  await requireMinding(settings, log);
  await warnOfClockBehind(log);
}

/**
 * A setting that was lost, or that another server of the database has not, would open all that is restricted without a word.
 * @throws Error where something is, and nobody said that it is not to hold
 */
async function requireMinding(settings: Settings, log: Logger): Promise<void> {
  if (!(await isUnenforced(settings))) return;
  if (!settings.accessModeStated)
    throw new Error(
      'the database has policies of access or marks of EHRs, and ACCESS_MODE is not set: with enforce they hold, with off everybody sees what they hide',
    );
  log.warn(
    `policies of access or marks of EHRs are kept and do not hold: ACCESS_MODE=${settings.accessMode}`,
  );
}

/** Versions with times to come are right by rule, and surprise whoever asks as of now. */
async function warnOfClockBehind(log: Logger): Promise<void> {
  const ahead = await timeAheadOfClock();
  if (ahead !== null) log.warn(CLOCK_BEHIND(ahead));
}

/** A code that was accepted because the terminology server failed must not go unseen. */
function warnOfUncheckedCodes(log: Logger): void {
  onEvent('terminologyFailure', ({ valueSetUrl }) => {
    log.warn({ valueSetUrl }, 'the terminology server failed: a code was accepted unchecked');
  });
}

/** What is left of an EHR that is hidden stays until the next start. */
function warnOfErasuresLeft(log: Logger): void {
  onEvent('erasureFailure', ({ ehrId, error }) => {
    log.warn(
      { ehr_id: ehrId, err: error },
      'the deletion of an EHR was not finished: the next start goes on with it',
    );
  });
}

/** Ends physical deletions that a crash interrupted; what they concern is hidden already. */
async function finishErasures(log: Logger): Promise<void> {
  try {
    const finished = await resumeErasures();
    if (finished > 0) log.info(`${finished} interrupted deletions of EHRs were finished`);
  } catch (error) {
    log.warn({ err: error }, 'interrupted deletions of EHRs were not finished');
  }
}

/**
 * Seals new records every so many milliseconds, one run after another; with 0 never. Of several servers on one
 * database one seals at a time. Gives what ends it.
 */
export function keepSealing(log: Logger, intervalMs: number): () => Promise<void> {
  if (intervalMs === 0) return () => Promise.resolve();
  return repeat(log, { intervalMs, failure: 'new records were not sealed', work: sealNewRecords });
}

/** How often a server looks for merges in steps whose server died, ms. */
const MERGES_MS = 3_000;

/** Ends merges in steps that another server, or this one before a crash, left. Gives what ends it. */
function keepEndingMerges(log: Logger): () => Promise<void> {
  const work = async (): Promise<void> => {
    const ended = await resumeMerges();
    if (ended > 0) log.info(`${ended} interrupted merges of EHRs were ended`);
  };
  return repeat(log, { intervalMs: MERGES_MS, failure: 'interrupted merges of EHRs were not ended', work });
}

/** Makes merges final that are old enough, hourly. Gives what ends it. */
function keepFinalising(log: Logger, days: number | null): () => Promise<void> {
  if (days === null) return () => Promise.resolve();
  const work = async (): Promise<void> => {
    const finalised = await finaliseOldMerges(days, recordedFinalising);
    if (finalised > 0) log.info(`${finalised} merges of EHRs were made final after ${days} days`);
  };
  const failure = 'old merges of EHRs were not made final';
  return repeat(log, { intervalMs: HOUR_MS, failure, work });
}

function recordedFinalising(work: () => Promise<unknown>): Promise<unknown> {
  return recordedWork('finaliseMerge', work);
}

/** Ends what waited too long for a second person, hourly. Gives what ends it. */
function keepEndingLapsed(log: Logger): () => Promise<void> {
  const work = async (): Promise<void> => {
    const now = new Date();
    const lapsed = [...(await lapsedActs(now)), ...(await lapsedMergeRequests(now))];
    await endLapsed(lapsed, (end) => recordedWork('withdrawApproval', end));
  };
  return repeat(log, {
    intervalMs: HOUR_MS,
    failure: 'what waited too long for approval was not ended',
    work,
  });
}

/** Nobody asked for it but the settings: the record says so. */
function recordedWork(operation: string, work: () => Promise<unknown>): Promise<unknown> {
  const sender = { user: 'everchart', operation, request_id: randomUUID() };
  return withAuditDraft(new AuditDraft(() => sender, 200), work);
}

interface Repeated {
  readonly intervalMs: number;
  /** What is logged, once until a run succeeds again: a database that is away is logged elsewhere. */
  readonly failure: string;
  readonly work: (isStopped: () => boolean) => Promise<unknown>;
}

/** Runs work again and again, never twice at a time. Gives what ends it: it waits for a run under way. */
function repeat(log: Logger, { intervalMs, failure, work }: Repeated): () => Promise<void> {
  let isStopped = false;
  let hasFailed = false;
  let running: Promise<void> | null = null;
  const run = async (): Promise<void> => {
    try {
      await work(() => isStopped);
      hasFailed = false;
    } catch (error) {
      if (!hasFailed && !isStopped) log.warn({ err: error }, failure);
      hasFailed = true;
    }
    running = null;
  };
  const timer = setInterval(() => {
    running ??= run();
  }, intervalMs);
  timer.unref();
  return async () => {
    isStopped = true;
    clearInterval(timer);
    await running;
  };
}
