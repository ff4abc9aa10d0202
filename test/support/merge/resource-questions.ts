import { apiClient } from '../../../cli/transfer/api-client.js';
import { exportedLines, ExportRun } from '../../../cli/transfer/export-run.js';
import type { Random } from '../random.js';
import { V1, type Json } from '../resources.js';
import { BUSY, DELETED, got, MERGED, NONE, sorted, type Answer, type Asked, type Question } from './asked.js';
import { heldBy, liveOf, SIDES, uidOf, type GroupState, type Held, type Side } from './recorded.js';

/** Objects with this many VERSIONs in all are exported. */
const MOST_VERSIONS = 400;
const LATER = '2100-01-01T00:00:00Z';

/** What is asked of one EHR and of one COMPOSITION, by their ids. */
export function resourceQuestions(asked: Asked, random: Random): Question[] {
  const { now, ehrIds } = asked;
  const side = random.pick(SIDES);
  const id = random.pick([...now.held.keys()]);
  const questions = new Resources(asked, side);
  const mayBeLarge = [...now.held.values()].reduce((sum, { versions }) => sum + versions.length, 0);
  return [
    ...questions.ofEhr(),
    ...questions.ofParts(),
    ...questions.ofComposition(id, timeOf(now.held.get(id)!, random)),
    ...questions.ofContribution(random),
    ...(mayBeLarge > MOST_VERSIONS ? [] : [questions.extract(), questions.exported()]),
    listOf(asked, Object.values(ehrIds)),
  ];
}

/** A moment at which one of the versions was the latest. */
function timeOf({ versions }: Held, random: Random): number {
  return random.pick(versions).time + random.below(2);
}

const jsonOf = (text: string): Json => JSON.parse(text) as Json;
const typedIn = (list: unknown): string =>
  sorted((list as Json[]).map(({ type, id }) => `${String(type)}:${String(id.value)}`));
const idsIn = (list: unknown): string => sorted((list as Json[]).map((ref) => String(ref.id.value)));

class Resources {
  readonly #path: string;

  constructor(
    private readonly asked: Asked,
    private readonly side: Side,
  ) {
    this.#path = `${V1}/ehr/${asked.ehrIds[side]}`;
  }

  ofEhr(): Question[] {
    const { side } = this;
    const compositions = (state: GroupState): string => sorted(liveOf(side, state)!.map(([id]) => id));
    const latest = (state: GroupState): string[] => [
      ...liveOf(side, state)!.map(([, one]) => `COMPOSITION:${uidOf(one)}`),
      `EHR_STATUS:${state.status[side]}`,
      ...(state.directory[side] === null ? [] : [`FOLDER:${state.directory[side]}`]),
    ];
    const isCounted = this.asked.now.contributions[side].size > 0;
    return [
      this.#get(
        'EHR',
        '?include=ehr_status',
        (text) => String(jsonOf(text).ehr_status.uid.value),
        ({ status }) => status[side],
      ),
      this.#get(
        'COMPOSITIONs',
        '?include=compositions',
        (text) => idsIn(jsonOf(text).compositions),
        compositions,
      ),
      this.#get(
        'latest versions',
        '?include=versions',
        (text) => typedIn(jsonOf(text).versions),
        (state) => sorted(latest(state)),
      ),
      this.#get(
        'include',
        '?include=compositions,contributions,ehr_status',
        (text) => {
          const { compositions: list, contributions, ehr_status: status } = jsonOf(text);
          const made = isCounted ? idsIn(contributions) : '';
          return [idsIn(list), status.uid.value, made].join('|');
        },
        (state) => {
          const made = isCounted ? sorted([...state.contributions[side].keys()]) : '';
          return [compositions(state), state.status[side], made].join('|');
        },
      ),
      this.#get(
        'tags',
        '/tags',
        (text) => sorted((JSON.parse(text) as Json[]).map((tag) => String(tag.target.value))),
        (state) => sorted(heldBy(side, state)!.flatMap(([id, { isTagged }]) => (isTagged ? [id] : []))),
      ),
    ];
  }

  ofParts(): Question[] {
    const { side } = this;
    const status = (state: GroupState): string => state.status[side];
    const uid = (text: string): string => String(jsonOf(text).uid.value);
    return [
      this.#get('EHR_STATUS', '/ehr_status', uid, status),
      this.#get('EHR_STATUS to come', `/ehr_status?version_at_time=${LATER}`, uid, status),
      this.#get('VERSION of EHR_STATUS', '/versioned_ehr_status/version', uid, status),
      this.#get(
        'container of EHR_STATUS',
        '/versioned_ehr_status',
        uid,
        (state) => status(state).split('::')[0]!,
      ),
      this.#get('history of EHR_STATUS', '/versioned_ehr_status/revision_history', latestIn, status),
      this.#directory(),
    ];
  }

  ofComposition(id: string, time: number): Question[] {
    const container = `/versioned_composition/${id}`;
    const at = encodeURIComponent(new Date(time).toISOString());
    const uid = (text: string): string => String(jsonOf(text).uid.value);
    const owner = this.asked.ehrIds[this.side];
    const of = this.#of(id);
    return [
      of('COMPOSITION', `/composition/${id}`, uid, live),
      of('COMPOSITION to come', `/composition/${id}?version_at_time=${LATER}`, uid, live),
      of('COMPOSITION then', `/composition/${id}?version_at_time=${at}`, uid, (one) => liveAt(one, time)),
      of('history', `${container}/revision_history`, latestIn, uidOf),
      of('VERSION', `${container}/version`, uid, uidOf),
      of(
        'container',
        container,
        (text) => String(jsonOf(text).owner_id.id.value),
        () => owner,
      ),
      of(
        'tags of COMPOSITION',
        `/composition/${id}/tags`,
        (text) => String((JSON.parse(text) as []).length),
        (one) => String(Number(one.isTagged)),
      ),
    ];
  }

  /** Of the EHR that it is in now. */
  ofContribution(random: Random): Question[] {
    const known = SIDES.flatMap((side) => [...this.asked.now.contributions[side].keys()]);
    if (known.length === 0) return [];
    const id = random.pick(known);
    return [
      this.#get(
        'CONTRIBUTION',
        `/contribution/${id}`,
        (text) => idsIn(jsonOf(text).versions),
        ({ contributions }) => {
          const uids = contributions[this.side].get(id);
          return uids === undefined ? NONE : sorted(uids);
        },
      ),
    ];
  }

  extract(): Question {
    const { side } = this;
    return this.#get(
      'EXTRACT',
      '/extract',
      (text) => {
        const { chapters } = jsonOf(text) as { chapters: { items: Json[] }[] };
        const objects = chapters.flatMap(({ items }) => items.map(({ item }) => item as Json));
        const own = objects.filter(({ _type }) => _type === 'X_VERSIONED_COMPOSITION');
        return sorted(
          own.flatMap(({ versions }) => (versions as Json[]).map(({ uid }) => String(uid.value))),
        );
      },
      (state) => sorted(heldBy(side, state)!.flatMap(([, { versions }]) => versions.map(({ uid }) => uid))),
    );
  }

  /** What the command writes of one EHR, and what it names as gone. */
  exported(): Question {
    const { side, asked } = this;
    const ehrId = asked.ehrIds[side];
    return {
      name: `export of ${side}`,
      of: () => '',
      ask: async (): Promise<Answer> => {
        const run = new ExportRun();
        const client = apiClient({ url: asked.url, identity: {}, repeatForMs: 0 });
        const uids: string[] = [];
        try {
          for await (const line of exportedLines(client, ehrId, run)) {
            const { composition } = jsonOf(line);
            if (composition !== undefined) uids.push(String(composition.uid.value));
          }
        } catch (error) {
          if ((error as { status?: number }).status === 503) return BUSY;
          throw error;
        }
        const lost = new Set(run.lost.map(([id]) => id));
        const owners = run.ehrs.has(ehrId) ? [side] : SIDES.filter((one) => one !== side);
        const of = (state: GroupState): string[] =>
          owners.map((owner) =>
            sorted((liveOf(owner, state) ?? []).flatMap(([id, one]) => (lost.has(id) ? [] : [uidOf(one)]))),
          );
        const found = sorted(uids);
        return [{ found, of: (state) => (of(state).includes(found) ? found : of(state).join('|')) }];
      },
    };
  }

  #get(
    name: string,
    below: string,
    read: (text: string) => string,
    of: (state: GroupState) => string,
  ): Question {
    const { side, asked } = this;
    return {
      name: `${name} of ${side}`,
      of: (state) => (state.into[side] === undefined ? of(state) : MERGED),
      ask: () => got(asked.url, `${this.#path}${below}`, read),
    };
  }

  /** Of a COMPOSITION that may be in another EHR. */
  #of(id: string) {
    return (
      name: string,
      below: string,
      read: (text: string) => string,
      of: (one: Held) => string,
    ): Question =>
      this.#get(name, below, read, (state) => {
        const [, one] = heldBy(this.side, state)!.find(([each]) => each === id) ?? [];
        return one === undefined ? NONE : of(one);
      });
  }

  /** One that was deleted, and none, are one answer here. */
  #directory(): Question {
    const { ask, ...question } = this.#get(
      'directory',
      '/directory',
      (text) => String(jsonOf(text).uid.value),
      (state) => state.directory[this.side] ?? NONE,
    );
    return {
      ...question,
      ask: async () => {
        const answer = await ask();
        return answer === DELETED ? NONE : answer;
      },
    };
  }
}

/** Which EHRs of a group there are, by the list of all. */
function listOf({ url }: Asked, ehrIds: readonly string[]): Question {
  const of = ({ into }: GroupState): string =>
    sorted(SIDES.flatMap((side, at) => (into[side] === undefined ? [ehrIds[at]!] : [])));
  const read = (text: string): string =>
    sorted(
      (jsonOf(text).ehrs as Json[]).map((one) => String(one.ehr_id)).filter((id) => ehrIds.includes(id)),
    );
  return { name: 'list of EHRs', of, ask: () => got(url, '/rest/admin/ehr?fetch=1000', read) };
}

function latestIn(text: string): string {
  return String((jsonOf(text).items as Json[]).at(-1)!.version_id.value);
}

function live(one: Held): string {
  return one.versions.at(-1)!.hasContent ? uidOf(one) : DELETED;
}

function liveAt({ versions }: Held, time: number): string {
  const then = versions.findLast((version) => version.time <= time);
  if (then === undefined) return NONE;
  return then.hasContent ? then.uid : DELETED;
}
