import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { TestEnvironment } from 'jest-environment-node';

/**
 * Ends the processes that a test file started and left: a test that fails, or runs into its limit, stops nothing it
 * started. Node.js tells of each process that is made, whoever makes it, so no test has to name its own.
 */
export default class extends TestEnvironment {
  #children = new Set();
  #started = ({ process: child }) => {
    this.#children.add(child);
    child.once('exit', () => this.#children.delete(child));
  };

  async setup() {
    await super.setup();
    subscribe('child_process', this.#started);
  }

  async teardown() {
    unsubscribe('child_process', this.#started);
    for (const child of this.#children) end(child);
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
