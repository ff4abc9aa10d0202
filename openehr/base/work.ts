import { CdrError, type ErrorCode } from './errors.js';

/** What is counted of the work of one request. */
export type Counted = 'steps' | 'patternSteps' | 'tuples' | 'resultBytes' | 'expressionNodes';

/** Most of everything that one request may use, all its parts together. */
export interface WorkBudget extends Readonly<Record<Counted, number>> {
  /** Of `patternSteps`, those for one value. */
  readonly valueSteps: number;
  /** Of `steps`, those that make the plan of a query. */
  readonly compileSteps: number;
  /** VERSIONs that a query may load which the database cannot answer by itself. */
  readonly versions: number;
  /** Different questions of a query to a terminology service. */
  readonly terminologyQuestions: number;
  /** Heaps of the threads that work for the request, in MiB: of large bodies, translation and evaluation of queries. */
  readonly bodyHeapMiB: number;
  readonly translatorHeapMiB: number;
  readonly evaluatorHeapMiB: number;
  /** Milliseconds that a thread may take for one part of a body. */
  readonly bodyTimeMs: number;
  /** Milliseconds of a query. */
  readonly timeMs: number;
}

/** What was exceeded, for the answer, the log and the metrics. */
export interface ExceededBudget {
  readonly name: Counted | 'valueSteps' | 'compileSteps' | 'timeMs';
  /** The setting that moves it. */
  readonly setting: string;
  readonly limit: number;
  readonly used: number;
}

interface Description {
  readonly setting: string;
  readonly code: ErrorCode;
  readonly what: string;
  readonly change: string;
}

/** The budgets of a request: their settings, what exceeding them is, and what the sender can change. */
const BUDGETS: Readonly<Record<ExceededBudget['name'], Description>> = {
  steps: {
    setting: 'MAX_WORK_STEPS',
    code: 'unprocessable',
    what: 'steps through objects, paths and expressions',
    change: 'ask for less at a time',
  },
  patternSteps: {
    setting: 'MAX_PATTERN_STEPS',
    code: 'unprocessable',
    what: 'steps of regular expressions (characters times instructions) in all values',
    change: 'shorten the texts or the patterns',
  },
  valueSteps: {
    setting: 'MAX_PATTERN_VALUE_STEPS',
    code: 'unprocessable',
    what: 'steps of a regular expression (characters times instructions) in one value',
    change: 'shorten the text or the pattern',
  },
  compileSteps: {
    setting: 'AQL_MAX_COMPILE_STEPS',
    code: 'unprocessable',
    what: 'steps to be translated for the database',
    change: 'ask for fewer paths and conditions at a time',
  },
  expressionNodes: {
    setting: 'AQL_MAX_EXPRESSION_NODES',
    code: 'unprocessable',
    what: 'nodes of expressions (paths, values, function calls, conditions and what joins them)',
    change: 'ask for fewer columns, arguments and conditions at a time, and give lists to MATCHES',
  },
  tuples: {
    setting: 'AQL_MAX_TUPLES',
    code: 'unprocessable',
    what: 'combinations of objects',
    change: 'name one EHR, or conditions on each class of FROM',
  },
  resultBytes: {
    setting: 'AQL_MAX_EVALUATED_BYTES',
    code: 'unprocessable',
    what: 'characters of whole objects read, compared and answered',
    change: 'use LIMIT, or select values instead of whole objects',
  },
  timeMs: {
    setting: 'AQL_TIMEOUT_MS',
    code: 'timeout',
    what: 'milliseconds',
    change: 'narrow what the query looks at',
  },
};

/** The refusal of a request that exceeds one of its budgets: names it, what was used and what to change. */
export function exceeded(name: ExceededBudget['name'], used: number, limit: number): CdrError {
  const { setting, code, what, change } = BUDGETS[name];
  const message =
    name === 'timeMs'
      ? `the query took longer than the server allows (${setting}): ${change}`
      : `the request needs ${used} ${what}, at most ${limit} are possible (${setting}): ${change}`;
  return new CdrError(code, message, { budget: { name, setting, limit, used } });
}

/** Steps after which the time is looked at. */
const STEPS_PER_LOOK = 4_096;

/**
 * Budget of one request: every loop whose length a client decides counts on it (`step`), in whatever thread it runs, and
 * stops where it is used up. docs/decisions/0046-one-budget-for-each-request.md
 */
export class Work {
  readonly #used: Record<Counted, number> = {
    steps: 0,
    patternSteps: 0,
    tuples: 0,
    resultBytes: 0,
    expressionNodes: 0,
  };
  #nextLook = STEPS_PER_LOOK;

  #start: number;

  /** `clock`: milliseconds. */
  constructor(
    readonly budget: WorkBudget,
    private readonly clock: () => number,
    private readonly refusal: (...exceeding: Parameters<typeof exceeded>) => Error = exceeded,
  ) {
    this.#start = clock();
  }

  /** The time begins now: a request that waited for its place has all of it. */
  begin(): void {
    this.#start = this.clock();
  }

  /** What is left, for a part of the work that is done in another thread. */
  left(): WorkBudget {
    const left = (name: Counted): number => Math.max(0, this.budget[name] - this.#used[name]);
    return {
      ...this.budget,
      steps: left('steps'),
      patternSteps: left('patternSteps'),
      tuples: left('tuples'),
      resultBytes: left('resultBytes'),
      expressionNodes: left('expressionNodes'),
      timeMs: Math.max(1, this.budget.timeMs - (this.clock() - this.#start)),
    };
  }

  /** So much was used so far. */
  get used(): Readonly<Record<Counted, number>> {
    return this.#used;
  }

  /** Counts. @throws CdrError of the budget that is used up */
  count(name: Counted, amount = 1): void {
    const used = (this.#used[name] += amount);
    if (used > this.budget[name]) throw this.refusal(name, used, this.budget[name]);
    if (name !== 'steps') this.count('steps');
    else if (used >= this.#nextLook) this.#look(used);
  }

  /** Counts what a regular expression needs for one value. @throws CdrError of the budget that is used up */
  countPattern(steps: number): void {
    const { valueSteps } = this.budget;
    if (steps > valueSteps) throw this.refusal('valueSteps', steps, valueSteps);
    this.count('patternSteps', steps);
  }

  /** Takes over what another thread used. */
  add(used: Readonly<Record<Counted, number>>): void {
    for (const name of Object.keys(used) as Counted[]) this.#used[name] += used[name];
  }

  #look(steps: number): void {
    this.#nextLook = steps + STEPS_PER_LOOK;
    const elapsed = this.clock() - this.#start;
    if (elapsed > this.budget.timeMs) throw this.refusal('timeMs', Math.round(elapsed), this.budget.timeMs);
  }
}

/** The budget of making the plan of a query: of what its request has left, at most `compileSteps`. */
export function compileWork(budget: WorkBudget, clock: () => number): Work {
  const { steps, compileSteps } = budget;
  const isLeast = compileSteps < steps;
  const refusal: typeof exceeded = (name, used, limit) =>
    exceeded(isLeast && name === 'steps' ? 'compileSteps' : name, used, limit);
  return new Work({ ...budget, steps: Math.min(steps, compileSteps) }, clock, refusal);
}

let current: Work | null = null;

/**
 * Runs a synchronous pass that counts on a budget (dynamic scope): whatever it calls counts there by `step`, without being
 * handed the budget through every function. @throws CdrError of the budget that is used up
 */
export function within<T>(work: Work | null, pass: () => T): T {
  const before = current;
  current = work;
  try {
    return pass();
  } finally {
    current = before;
  }
}

/** Counts one step, or several, of the pass that runs. @throws CdrError of the budget that is used up */
export function step(amount = 1): void {
  current?.count('steps', amount);
}

/** Characters that are read in the time of a step. */
const CHARACTERS_OF_A_STEP = 64;

/** Counts the steps that reading a text takes, one character after another. @throws as `step` */
export function characters(text: string): void {
  step(Math.ceil(text.length / CHARACTERS_OF_A_STEP));
}

/** Counts the members of a list that the pass goes through, all at once, and gives the list. @throws as `step` */
export function counted<T extends Countable | null | undefined>(list: T): T {
  if (current !== null && list != null) current.count('steps', 'length' in list ? list.length : list.size);
  return list;
}

type Countable = readonly unknown[] | { readonly size: number } | { readonly length: number };

/** Counts nodes of the expressions of a query. @throws as `step` */
export function expressionNodes(amount = 1): void {
  current?.count('expressionNodes', amount);
}

/** Counts a combination of objects of the pass that runs. @throws as `step` */
export function tuple(): void {
  current?.count('tuples');
}

/** Counts characters that the pass that runs reads, compares or answers. @throws as `step` */
export function resultBytes(characters: number): void {
  current?.count('resultBytes', characters);
}

/** Steps for one value where no request counts them, as at the start of the server. */
const UNCOUNTED_VALUE_STEPS = 100_000;

/** Counts what a regular expression needs for one value. @throws as `step` */
export function patternSteps(steps: number): void {
  if (current !== null) current.countPattern(steps);
  else if (steps > UNCOUNTED_VALUE_STEPS) throw exceeded('valueSteps', steps, UNCOUNTED_VALUE_STEPS);
}

/**
 * What all parts of one request may use of the main thread: some 20 ms of processor time. What needs more is begun again in
 * a thread.
 */
const HERE = { steps: 200_000, patternSteps: 300_000 };

/** Ends a pass that is to be begun again in a thread. */
class Elsewhere extends Error {}

/**
 * Runs a pass on the main thread as far as its request may use that, `most`; null: it is to be begun again in a thread.
 * @throws CdrError of the budget that is used up, and what the pass throws
 */
export function tryHere<T>(work: Work, pass: () => T, most = HERE): { readonly value: T } | null {
  const left = work.left();
  const here = new Work(
    {
      ...left,
      steps: Math.min(left.steps, Math.max(0, most.steps - work.used.steps)),
      patternSteps: Math.min(left.patternSteps, Math.max(0, most.patternSteps - work.used.patternSteps)),
    },
    () => 0,
    (name, used, limit) => (limit < left[name] ? new Elsewhere() : exceeded(name, used, limit)),
  );
  try {
    return { value: within(here, pass) };
  } catch (error) {
    if (error instanceof Elsewhere) return null;
    throw error;
  } finally {
    work.add(here.used);
  }
}
