const { pathToFileURL } = require('node:url');
const { default: Runtime } = require('jest-runtime');

/**
 * Rooms that know no database and no requests: what they remember follows from what they were given. They import one another alone
 * (`.dependency-cruiser.cjs`).
 */
const PURE = /^(?:openehr|aql|policy|config|packages\/(?:aql|client|rm)\/src)\//;
/** Packages with models, and with a process, which ends with the file. */
const STATEFUL = /\/node_modules\/(?:mongoose|esbuild)\//;

/**
 * Keeps modules of packages and of rooms without a state from one test file of a worker to the next, where the environment keeps
 * its context (`environment.mjs`): packages are 1,100 of the 1,800 that a file of HTTP loads. Everything else goes with its file:
 * the other modules, mocks, Jest itself.
 */
module.exports = class extends Runtime {
  constructor(...given) {
    const [, environment, , , , , testPath] = given;
    if (environment.keptRuntime !== undefined) return environment.keptRuntime.begin(testPath);
    super(...given);
    if (environment.isKept) environment.keptRuntime = this;
  }

  /** For the next file. */
  begin(testPath) {
    this._testPath = testPath;
    this.esmLoader.testPath = testPath;
    this.testState.state = 'loading';
    return this;
  }

  setMock(...given) {
    this.#refuseMock();
    super.setMock(...given);
  }

  setModuleMock(...given) {
    this.#refuseMock();
    super.setModuleMock(...given);
  }

  /** What is kept was linked to what is there. @throws Error that says what helps */
  #refuseMock() {
    if (this._environment.isKept)
      throw new Error('A file that mocks modules needs @own-modules in the comment that it begins with');
  }

  teardown() {
    if (!this._environment.isKept || this._environment.isSpoiled) {
      super.teardown();
      return;
    }
    this.restoreAllMocks();
    const { esModuleRegistry, moduleRegistry, ...others } = this.registries;
    for (const name of esModuleRegistry.keys()) if (!this.#stays(name)) esModuleRegistry.delete(name);
    for (const path of moduleRegistry.keys())
      if (!this.#stays(pathToFileURL(path).href)) moduleRegistry.delete(path);
    for (const registry of [others.internalModuleRegistry, others.mockRegistry, others.moduleMockRegistry])
      registry.clear();
    this.mockState.clear();
    this.testMainModule.reset();
    this.jestGlobals.clearJestObjectCache();
    this.loggedReferenceErrors.clear();
    this.testState.teardown();
  }

  /** Whether the module of this name, a URL or a module of Node.js, is for the next file too. */
  #stays(name) {
    if (name.includes('/node_modules/')) return !STATEFUL.test(name);
    if (!name.startsWith('file:')) return !name.startsWith('@jest/globals');
    const path = name.slice(pathToFileURL(`${this._config.rootDir}/`).href.length);
    return PURE.test(path) && !path.includes('?');
  }
};
