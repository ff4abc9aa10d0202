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

/** The environment of the files that share one. */
let kept;

/**
 * Not where lines are counted, nor where the process outlives a change of the code, nor where a file asks for modules of its own:
 * `@own-modules` in the comment that it begins with.
 */
function mayKeep({ globalConfig, projectConfig }, { docblockPragmas }) {
  const { collectCoverage, watch, watchAll } = globalConfig;
  const isWithRuntime = projectConfig.runtime?.endsWith('/jest/runtime.cjs') === true;
  return isWithRuntime && !(collectCoverage || watch || watchAll) && !('own-modules' in docblockPragmas);
}

/** The properties of an object, as they are. */
const propertiesOf = (object) =>
  new Map(Reflect.ownKeys(object).map((name) => [name, Object.getOwnPropertyDescriptor(object, name)]));

/** Gives an object the properties again that it had, as far as they can be changed. */
function restoreProperties(object, properties) {
  for (const name of Reflect.ownKeys(object)) if (!properties.has(name)) Reflect.deleteProperty(object, name);
  for (const [name, property] of properties)
    if (
      Object.getOwnPropertyDescriptor(object, name)?.value !== property.value ||
      property.value === undefined
    )
      Reflect.defineProperty(object, name, property);
}

/**
 * One context for the files of a worker, in which `runtime.cjs` keeps modules, until one of them fails: what such a file left is not
 * for others. Ends what a test file started and left.
 * Processes: a test that fails, or runs into its limit, stops nothing it started. Node.js tells of each process that is
 * made, whoever makes it, so no test has to name its own.
 * Storages of asynchronous contexts: each file loads modules anew, with storages of their own, and a worker that went
 * through a hundred files would take longer for each promise.
 */
export default class SharedEnvironment extends TestEnvironment {
  /** Whether the context stays for the files after this one. */
  isKept = false;
  /** Set by `runtime.cjs`. */
  keptRuntime;
  #isFinished = false;
  #isFailed = false;
  #before;
  #children = new Set();
  #started = ({ process: child }) => {
    this.#children.add(child);
    child.once('exit', () => this.#children.delete(child));
  };

  constructor(config, context) {
    const isKept = mayKeep(config, context);
    if (isKept && kept !== undefined) return kept;
    super(config, context);
    this.isKept = isKept;
    if (isKept) kept = this;
    if (!config.globalConfig.collectCoverage) keepCompiledCode();
    this.global.everchartCatalogs = catalogs;
    const { process } = this.global;
    const { env, exit } = process;
    this.#before = { env, exit, variables: { ...env }, globals: propertiesOf(this.global) };
  }

  /** Whether a case failed, or the file did not get to its end. */
  get isSpoiled() {
    return this.#isFailed || !this.#isFinished;
  }

  handleTestEvent({ name }) {
    if (['test_fn_failure', 'hook_failure', 'error'].includes(name)) this.#isFailed = true;
    if (name === 'run_finish') this.#isFinished = true;
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
    if (this.isKept && !this.isSpoiled) {
      this.#forget();
      return;
    }
    if (kept === this) kept = undefined;
    await super.teardown();
  }

  /** Makes the context what it was before the file. */
  #forget() {
    const { env, exit, variables, globals } = this.#before;
    this.fakeTimersModern.dispose();
    restoreProperties(this.global, globals);
    for (const name of Object.keys(env)) if (!(name in variables)) delete env[name];
    Object.assign(this.global.process, { env: Object.assign(env, variables), exit });
    this.#isFinished = false;
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
