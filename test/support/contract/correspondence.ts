/** Uuids, times, and addresses of a server: what no two runs have in common. */
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i;
const TIME =
  /\d{4}-\d\d-\d\dT\d\d(?::|%3A)\d\d(?::|%3A)\d\d(?:[.,]\d+)?(?:Z|(?:[+-]|%2B)\d\d(?::|%3A)?\d\d)?/i;
const HTTP_DATE = /[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT/;
const ADDRESS = /127\.0\.0\.1:\d+/;
const TOKEN = new RegExp(
  [UUID, TIME, HTTP_DATE, ADDRESS].map(({ source }) => `(?:${source})`).join('|'),
  'gi',
);

/** How long a recording takes, and how far its clock is from those of its texts. */
const NEAR_MS = 3_600_000;

/**
 * Which uuid, time, address or ETag of this run stands for which of a recording. Learnt from each pair of answers, used
 * in each request after it.
 */
export class Correspondence {
  private readonly known = new Map<string, string>();
  private readonly recordedAt: number;

  /** @param recordedAt when the recording was made: times near it are times of the server, others are content */
  constructor(recordedAt: number) {
    this.recordedAt = recordedAt;
  }

  /** A text of the recording in words of this run. */
  translated(text: string): string {
    return this.known.get(text) ?? text.replace(TOKEN, (token) => this.known.get(token) ?? this.later(token));
  }

  /** What a text of either run has in common with the other's. */
  masked(text: string, isOfThisRun: boolean): string {
    const words = isOfThisRun ? text : this.translated(text);
    return words.replace(TOKEN, (token) => {
      if (ADDRESS.test(token)) return '<address>';
      if (UUID.test(token)) return token;
      // A text of the recording was translated: its times are of this run, or of none that an answer named.
      const isOfServer = this.isOfServer(token, true) || (!isOfThisRun && this.isOfServer(token, false));
      return isOfServer ? '<time>' : token;
    });
  }

  /** Learns from two answers to the same request: JSON by its members, other texts by the order of what they name. */
  learn(recorded: string, answered: string): void {
    const pair = [recorded, answered].map(parsed);
    if (pair.includes(undefined)) this.learnText(recorded, answered);
    else this.learnMembers(pair[0], pair[1]);
  }

  /** Learns that one word stands for another, such as an ETag that is a digest. */
  learnWord(recorded: string, answered: string): void {
    if (!this.known.has(recorded)) this.known.set(recorded, answered);
  }

  private learnMembers(recorded: unknown, answered: unknown): void {
    if (typeof recorded === 'string' && typeof answered === 'string') this.learnText(recorded, answered);
    if (typeof recorded !== 'object' || typeof answered !== 'object' || !recorded || !answered) return;
    for (const [name, value] of Object.entries(recorded))
      this.learnMembers(value, (answered as Record<string, unknown>)[name]);
  }

  private learnText(recorded: string, answered: string): void {
    const ours = answered.match(TOKEN) ?? [];
    for (const [i, theirs] of (recorded.match(TOKEN) ?? []).entries()) {
      const own = ours[i];
      if (own === undefined || UUID.test(own) !== UUID.test(theirs)) return;
      this.learnWord(theirs, own);
    }
  }

  /** A time of the recording that no answer named (its test asked the clock): the moment of the answer before it. */
  private later(token: string): string {
    const time = timeOf(token);
    if (!this.isOfServer(token, false)) return token;
    const before = [...this.known].filter(([theirs]) => timeOf(theirs) <= time);
    const latest = before.reduce(
      (last, next) => (timeOf(next[0]) >= timeOf(last[0]) ? next : last),
      ['', ''],
    );
    return latest[1] === '' ? token : new Date(timeOf(latest[1]) + time - timeOf(latest[0])).toISOString();
  }

  private isOfServer(token: string, isOfThisRun: boolean): boolean {
    const near = isOfThisRun ? Date.now() : this.recordedAt;
    return Math.abs(timeOf(token) - near) < NEAR_MS;
  }
}

const timeOf = (token: string) =>
  Date.parse(token.replaceAll(/%3A/gi, ':').replace(/%2B/i, '+').replace(',', '.'));

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
