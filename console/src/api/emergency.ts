/** What somebody says who opens a record in an emergency; each request about it is recorded with it. */
export interface Emergency {
  /** Codes of HL7: emergency treatment, break the glass. */
  readonly purpose: 'ETREAT' | 'BTG';
  readonly reason: string;
  /** When it was stated. ISO 8601 */
  readonly since: string;
}

/** Header by which the server tells that something is withheld which an emergency would open. */
const WITHHELD = 'everchart-withheld';

/** Under this name stands what is asked of all records. */
const ALL = '';

const OF_RECORD = /\/rest\/(?:openehr\/v1\/ehr|preview|favourite|draft)\/([^/]+)/;
/** Names its record in its body. */
const QUERY = '/query/aql';
/** So does the word to the audit that something is printed. */
const PRINT = '/rest/print';

/** The record that a request is about, by its path or, of a query, by its body; empty: all. null: it is answered whatever is withheld. */
export function recordAsked(path: string, body: string): string | null {
  if (path.endsWith(QUERY) || path.endsWith(PRINT)) return ehrIn(body);
  if (path.endsWith('/rest/ehrs')) return ALL;
  const [, id] = OF_RECORD.exec(path) ?? [];
  return id === undefined ? null : decodeURIComponent(id);
}

function ehrIn(body: string): string {
  try {
    const { ehr_id: id } = JSON.parse(body) as { readonly ehr_id?: unknown };
    return typeof id === 'string' ? id : ALL;
  } catch {
    return ALL;
  }
}

/** The headers that state an emergency: of a reason in any script the bytes of UTF-8. */
export function emergencyHeaders({ purpose, reason }: Emergency): Readonly<Record<string, string>> {
  const bytes = Array.from(new TextEncoder().encode(reason), (byte) => String.fromCharCode(byte));
  return { 'Purpose-Of-Use': purpose, 'Purpose-Of-Use-Reason': bytes.join('') };
}

/** Which records are open in an emergency, and of which something is withheld: in memory alone, as long as its user is signed in. */
class Emergencies {
  readonly #open = new Map<string, Emergency>();
  readonly #withheld = new Set<string>();
  readonly #listeners = new Set<() => void>();

  /** undefined: it is not open in an emergency. */
  of(ehrId: string): Emergency | undefined {
    return this.#open.get(ehrId);
  }

  /** Whether an emergency would open more of a record; of all of them without id. */
  isWithheld(ehrId: string = ALL): boolean {
    return this.#withheld.has(ehrId);
  }

  begin(ehrId: string, emergency: Emergency): void {
    this.#open.set(ehrId, emergency);
    this.#withheld.delete(ehrId);
    this.#tell();
  }

  end(ehrId: string): void {
    this.#open.delete(ehrId);
    this.#tell();
  }

  /** Another person sits here, or nobody. */
  clear(): void {
    this.#open.clear();
    this.#withheld.clear();
    this.#tell();
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Sends a request: what is about a record that is open in an emergency says so, and what its answer tells of withheld things is kept. */
  async send(request: Request, send: (request: Request) => Promise<Response>): Promise<Response> {
    const { pathname } = new URL(request.url);
    const isInBody = pathname.endsWith(QUERY) || pathname.endsWith(PRINT);
    const ehrId = recordAsked(pathname, isInBody ? await request.clone().text() : '');
    if (ehrId === null) return send(request);
    const emergency = this.#open.get(ehrId);
    if (emergency !== undefined)
      for (const [name, value] of Object.entries(emergencyHeaders(emergency)))
        request.headers.set(name, value);
    const answer = await send(request);
    // A query of a record that is not there cannot tell what an emergency would open.
    const isTold = answer.headers.has(WITHHELD) && (answer.ok || !pathname.endsWith(QUERY));
    if (isTold && !this.#open.has(ehrId) && !this.#withheld.has(ehrId)) {
      this.#withheld.add(ehrId);
      this.#tell();
    }
    return answer;
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** Those of this page. */
export const emergencies = new Emergencies();
