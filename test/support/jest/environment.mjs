import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { TestEnvironment } from 'jest-environment-node';
import { keepCompiledCode } from './code-cache.mjs';

/** What `test/support/database.ts` made its databases with, kept from one file of this worker to the next. */
const catalogs = new Map();

/** The storages that run since the file began. Node.js visits each of them whenever a promise is made, until `disable`. */
const storages = new Set();
for (const name of ['run', 'enterWith']) {
  const original = AsyncLocalStorage.prototype[name];
  AsyncLocalStorage.prototype[name] = function (...args) {
    storages.add(this);
    return original.apply(this, args);
  };
}

/**
 * Ends what a test file started and left.
 * Processes: a test that fails, or runs into its limit, stops nothing it started. Node.js tells of each process that is
 * made, whoever makes it, so no test has to name its own.
 * Storages of asynchronous contexts: each file loads modules anew, with storages of their own, and a worker that went
 * through a hundred files would take longer for each promise.
 */
export default class extends TestEnvironment {
  #children = new Set();
  #started = ({ process: child }) => {
    this.#children.add(child);
    child.once('exit', () => this.#children.delete(child));
  };

  constructor(config, context) {
    super(config, context);
    if (!config.globalConfig.collectCoverage) keepCompiledCode();
    this.global.everchartCatalogs = catalogs;
  }

  async setup() {
    await super.setup();
    subscribe('child_process', this.#started);
  }

  async teardown() {
    unsubscribe('child_process', this.#started);
    for (const child of this.#children) end(child);
    for (const storage of storages) storage.disable();
    storages.clear();
    await super.teardown();
  }
}

/** SIGKILL, also to what a child with a process group of its own started in turn. */
function end(child) {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    child.kill('SIGKILL'); // it has none
  }
}
