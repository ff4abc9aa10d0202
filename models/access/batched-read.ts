interface Waiting<Question, Answer> {
  readonly question: Question;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/** After this time nobody waits for a read under way any more, whenever he came: it may be stuck. */
const PATIENCE_MS = 10;

/**
 * Joins questions that come while a read is under way into the next read, so that under load one round trip
 * answers many. Every question is answered by a read that began after it was asked.
 */
export class BatchedRead<Question, Answer> {
  readonly #read: (questions: readonly Question[]) => Promise<readonly Answer[]>;
  #waiting: Waiting<Question, Answer>[] = [];
  #readers = 0;
  /** When the newest read began, by `performance.now()`. */
  #began = 0;

  /** `read` gives the answers in the order of the questions. */
  constructor(read: (questions: readonly Question[]) => Promise<readonly Answer[]>) {
    this.#read = read;
  }

  /** The answer to one question. @throws what the read throws */
  ask(question: Question): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ question, resolve, reject });
      if (this.#readers === 0 || performance.now() - this.#began > PATIENCE_MS) void this.#readWaiting();
    });
  }

  async #readWaiting(): Promise<void> {
    this.#readers += 1;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      this.#began = performance.now();
      const patience = setTimeout(() => void this.#readWaiting(), PATIENCE_MS);
      await this.#answer(batch);
      clearTimeout(patience);
    }
    this.#readers -= 1;
  }

  async #answer(batch: readonly Waiting<Question, Answer>[]): Promise<void> {
    try {
      const answers = await this.#read(batch.map(({ question }) => question));
      batch.forEach(({ resolve }, index) => {
        resolve(answers[index] as Answer);
      });
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}
