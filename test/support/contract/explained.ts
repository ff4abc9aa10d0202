import { CHANGES } from './changes.js';
import { differencesOf, type Replayed } from './replay.js';

/** The EHR that a path goes through. */
const EHR_OF_PATH = /\/ehr\/[^/?]+\//g;
/** Any uuid. */
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/** Judges the answers of one recording in their order, and remembers which changes it met. */
export class Judge {
  /** `told` of each change that explained something. */
  readonly met = new Set<string>();
  /** Ids in requests that had another outcome than before: what is asked of those later differs as well. */
  readonly #otherwise = new Set<string>();

  /** Whether each difference is one that is meant, or follows from one. */
  isExplained(replayed: Replayed): boolean {
    let { then, now } = replayed;
    let differences = replayed.differences;
    for (const change of CHANGES) {
      if (!('without' in change)) continue;
      then = change.without(then);
      now = change.without(now);
      const left = differencesOf(then, now);
      if (left.length < differences.length || (left.length > 0 && then.body !== replayed.then.body))
        this.met.add(change.told);
      differences = left;
    }
    if (differences.length === 0) return true;
    const plain = { ...replayed, then, now, differences };
    const change = CHANGES.find((known) => 'isOf' in known && known.isOf(plain));
    if (change !== undefined) {
      this.met.add(change.told);
      if (isDone(then.status) !== isDone(now.status)) this.#remember(replayed);
    }
    return change !== undefined || this.#follows(replayed);
  }

  /** The object that a request was about: what it names below its EHR, and what it made. */
  #remember({ exchange, then, now }: Replayed): void {
    const made = [then, now].map(({ headers }) => headers['location'] ?? '');
    for (const id of objectsIn([exchange.url, ...made])) this.#otherwise.add(id);
  }

  #follows({ exchange, then, now }: Replayed): boolean {
    const texts = [
      exchange.url,
      then.headers['location'] ?? '',
      now.headers['location'] ?? '',
      then.body,
      now.body,
    ];
    return objectsIn(texts).some((id) => this.#otherwise.has(id));
  }
}

/** The ids in texts without those of EHRs in paths: what happened to one object of an EHR explains nothing of others. */
function objectsIn(texts: readonly string[]): readonly string[] {
  return texts.flatMap((text) => text.replaceAll(EHR_OF_PATH, '/').match(UUID) ?? []);
}

const isDone = (status: number): boolean => status < 400;
