interface Waiting<Question, Answer> {
  readonly question: Question;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Joins questions that come while reads are under way into the next read, so that under load one round trip
 * answers many. Every question is answered by a read that began after it was asked.
 */
export class BatchedRead<Question, Answer> {
  readonly #read: (questions: readonly Question[]) => Promise<readonly Answer[]>;
  #waiting: Waiting<Question, Answer>[] = [];
  readonly #atOnce: number;
  #underWay = 0;

  /** `read` gives the answers in the order of the questions; `atOnce` of them may be under way. */
  constructor(read: (questions: readonly Question[]) => Promise<readonly Answer[]>, atOnce: number) {
    this.#read = read;
    this.#atOnce = atOnce;
  }

  /** The answer to one question. @throws what the read throws */
  ask(question: Question): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ question, resolve, reject });
      if (this.#underWay < this.#atOnce) void this.#readWaiting();
    });
  }

  async #readWaiting(): Promise<void> {
    this.#underWay += 1;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      await this.#answer(batch);
    }
    this.#underWay -= 1;
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
