import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { BoundQuery } from '../aql/syntax/ast.js';
import { bindParameters } from '../aql/semantics/bind/bind.js';
import { countsAlone } from '../aql/semantics/counts-alone.js';
import { checkScope } from '../aql/semantics/check.js';
import { UnknownSystem } from '../aql/semantics/identifier-operand.js';
import { executedAql } from '../aql/result/executed.js';
import { pageOf, type Page } from '../aql/semantics/page.js';
import type { QueryWarning } from '../aql/result/warning.js';
import {
  unusedParameters,
  withEhrId,
  type QueryParameters,
  type UnusedParameter,
} from '../aql/semantics/bind/parameters.js';
import { parseAql } from '../aql/syntax/parse.js';
import { WatchedClock, type Clock } from '../aql/semantics/present-time.js';
import { resolveScope } from '../aql/semantics/scope/scope.js';
import type { Scope } from '../aql/semantics/scope-types.js';
import {
  resolveTerminology,
  terminologyQuestions,
  type TerminologyAnswer,
  type TerminologyQuestion,
} from '../aql/semantics/terminology.js';
import type { QueryPlan } from '../aql/plan/query-plan.js';
import { NO_MERGES, type MovingMerges } from '../aql/index/moved-owners.js';
import { needsShapes, shapeCatalogue } from '../aql/index/shapes.js';
import { translate } from '../aql/mongo/translate.js';
import { tryHere, within, type Work } from '../openehr/base/work.js';
import { translateInThread } from '../workers/translation.js';
import type { Translation } from '../workers/translate.js';
import type { PathAlias } from '../openehr/template/upgrade/path-alias.js';
import { asksBeside, type Permitted } from '../policy/condition.js';
import { CdrError } from '../openehr/base/errors.js';
import type { Settings } from '../config/settings.js';
import { derivedState, shapeIds, type DerivedState } from '../models/cross-collection/run-pipeline.js';
import { presentAliases } from '../models/cross-collection/template-aliases.js';
import { storageSettings } from '../models/settings.js';
import { queryWarnings } from './warnings.js';

/** What a query may use, and what is aborted when nobody waits for it any more. */
export interface QueryLimits {
  readonly work: Work;
  readonly signal: AbortSignal;
  /** Who shares the threads fairly with others. */
  readonly user: string;
}

/** Asks a terminology service the questions of a query. */
export type AskTerminology = (
  questions: readonly TerminologyQuestion[],
  limits: QueryLimits,
) => Promise<ReadonlyMap<string, TerminologyAnswer>>;

/** A query ready to run. */
export interface CompiledQuery {
  /** As it runs while nothing is being merged in steps. */
  readonly plan: QueryPlan;
  /** The plan made anew for merges in steps beside which it is to run. @throws as `compile` */
  readonly planBeside: (merges: MovingMerges) => Promise<QueryPlan>;
  readonly page: Page;
  readonly executedAql: string;
  /** Those of the answer: of counts alone not what tells of how many patients they are. */
  readonly columns: QueryPlan['columns'];
  readonly query: BoundQuery;
  readonly scope: Scope;
  /** Paths that templates have moved, as the scope sees them. */
  readonly aliases: readonly PathAlias[];
  readonly request: QueryRequest;
  readonly clock: Clock;
  readonly warnings: readonly QueryWarning[];
  /** What a GET has beside the parameters of the query. */
  readonly unused: readonly UnusedParameter[];
}

/** Plans that a compiler keeps for a request that comes again, and the most characters of all of them as JSON. */
const MAX_KEPT_PLANS = 500;
const MAX_KEPT_CHARACTERS = 16 * 1024 * 1024;
/** Longest request (text and parameters, as JSON) whose plan is kept. */
const MAX_KEPT_REQUEST = 8 * 1024;

/** What making a plan may use of the main thread: some 10 ms. What needs more is begun again in a thread. */
const TRANSLATED_HERE = { steps: 50_000, patternSteps: 50_000 };

/** What of a compiled query is the same for every equal request, if it is repeatable. */
interface KeptQuery extends Pick<
  CompiledQuery,
  'plan' | 'page' | 'executedAql' | 'query' | 'scope' | 'aliases' | 'unused'
> {
  readonly isRepeatable: boolean;
  readonly translated: (merges: MovingMerges, limits: QueryLimits) => Promise<Translated>;
}

type Checked = Pick<KeptQuery, 'query' | 'scope' | 'page' | 'executedAql'>;

type Translated = Pick<Translation, 'plan' | 'isClockRead'>;

/**
 * Makes plans of query texts. Plans of equal requests are made once, for people ask the same again (a page that is
 * opened again, a dashboard); a plan that depends on anything else than the request and the settings (the present time,
 * a terminology server, the shapes of what is stored) is made anew each time.
 */
export class QueryCompiler {
  readonly #kept = new LRUCache<string, KeptQuery>({
    max: MAX_KEPT_PLANS,
    maxSize: MAX_KEPT_CHARACTERS,
    sizeCalculation: ({ plan }, key) => key.length + JSON.stringify(plan.pipeline).length,
  });

  /** Other systems whose versions were restored here, as far as a query has named one. */
  #systems: readonly string[] = [];

  constructor(
    private readonly settings: Settings,
    private readonly ask: AskTerminology,
  ) {}

  /**
   * Text to plan: parse, parameters, terminology, scope, checks, paging, translation.
   * docs/spec/aql.md#evaluation-order, steps 1 to 4.
   * @throws invalid for what the query or a parameter gets wrong; unprocessable for paging given twice
   * (docs/spec/aql.md#paging)
   */
  async compile(q: string, request: QueryRequest, limits: QueryLimits): Promise<CompiledQuery> {
    const derived = await derivedState(this.settings.aql.leafIndex);
    const key = requestKey(q, request, derived);
    const clock = new WatchedClock(new Date());
    const known = this.#kept.get(key);
    const compiled = known ?? (await this.#compile(q, request, derived, { ...limits, clock }));
    if (request.permitted !== undefined) requireNamed(compiled.plan, request.permitted);
    const isNew = known === undefined && compiled.isRepeatable && key.length <= MAX_KEPT_REQUEST;
    if (isNew) this.#kept.set(key, compiled);
    const { subsumption } = this.settings.aql;
    const isNarrowed = request.permitted !== undefined;
    const warnings = await queryWarnings(compiled.scope, { subsumption, isNarrowed }, limits.work);
    const { plan, page, executedAql, query, scope, aliases, unused } = compiled;
    const planBeside = async (merges: MovingMerges): Promise<QueryPlan> =>
      merges.targets.size === 0 ? plan : (await compiled.translated(merges, limits)).plan;
    const columns = request.leastPatients === undefined ? plan.columns : plan.columns.slice(0, -1);
    const what = { query, scope, aliases, unused, request, columns };
    return { plan, planBeside, page, executedAql, ...what, clock, warnings };
  }

  async #compile(
    q: string,
    request: QueryRequest,
    derived: DerivedState,
    { clock, ...limits }: QueryLimits & { readonly clock: WatchedClock },
  ): Promise<KeptQuery> {
    const { settings } = this;
    const { work } = limits;
    const aliases = derived.aliases === undefined ? [] : await presentAliases(derived.aliases);
    const { bound, unused, questions } = within(work, () => boundOf(q, request));
    const answers = questions.length === 0 ? new Map<string, never>() : await this.ask(questions, limits);
    let checked: Checked | null = null;
    while (checked === null) {
      const systems = { systemId: settings.systemId, systems: this.#systems };
      try {
        checked = within(work, () => {
          const asked = resolveTerminology(bound, answers);
          const query = request.leastPatients === undefined ? asked : countsAlone(asked);
          const scope = resolveScope(query, { ehrId: request.ehrId, aliases });
          checkScope(scope, systems);
          const page = pageOf(query, request, settings.aql);
          return { query, scope, page, executedAql: executedAql(asked, page) };
        });
      } catch (error) {
        this.#systems = await systemsWith(error);
      }
    }
    const { query, scope, page } = checked;
    const ofShapes = needsShapes(scope.from);
    const shapes = ofShapes ? await shapeIds(null) : [];
    const { ehrId, asOf, notesEhrs, permitted } = request;
    const { systemId, aql } = settings;
    const { isCurrent, leafIndex, hasCommitters } = derived;
    const context = {
      ...{ isCurrent, leafIndex, hasCommitters, systemId, subsumption: aql.subsumption, asOf, notesEhrs },
      ...(permitted !== undefined && { permitted }),
    };
    const translated = async (merges: MovingMerges, limits: QueryLimits): Promise<Translated> => {
      const beside = { ...context, merges };
      const made = (): QueryPlan =>
        translate(scope, page, { ...beside, shapes: shapeCatalogue(shapes), clock });
      const here = tryHere(limits.work, made, TRANSLATED_HERE);
      if (here !== null) return { plan: here.value, isClockRead: clock.isRead };
      const what = { query, ehrId, aliases, page, context: beside, shapeIds: shapes };
      return translateInThread({ ...what, now: clock.moment }, limits);
    };
    const { plan, isClockRead } = await translated(NO_MERGES, limits);
    const isRepeatable = questions.length === 0 && !ofShapes && !isClockRead;
    return { ...checked, plan, aliases, unused, isRepeatable, translated };
  }
}

/** The other systems whose versions are here, when a query that was refused names one. @throws what it was refused for else */
async function systemsWith(refusal: unknown): Promise<readonly string[]> {
  if (!(refusal instanceof UnknownSystem)) throw refusal;
  const { systems = [] } = (await storageSettings()) ?? {};
  if (!systems.includes(refusal.system)) throw refusal;
  return systems;
}

/** @throws unprocessable where only the database can say what is permitted: what it finds is evaluated here, by content alone */
function requireNamed({ inProcess }: QueryPlan, permitted: Permitted): void {
  if (inProcess?.kind !== 'evaluate') return;
  if (!asksBeside(permitted.ehr) && !asksBeside(permitted.version)) return;
  throw new CdrError(
    'unprocessable',
    'the query compares whole objects, and more EHRs have tags or marks than it can leave out: name one EHR, or select primitive values',
  );
}

/** A query with its parameters, and what it has to ask for. */
function boundOf(q: string, { parameters, ehrId }: QueryRequest) {
  const parsed = parseAql(q);
  const bound = bindParameters(parsed, withEhrId(parameters, parsed, ehrId));
  const unused = parameters.source === 'text' ? unusedParameters(parsed, parameters) : [];
  return { bound, unused, questions: terminologyQuestions(bound) };
}

/** All that a plan is made of but the settings. */
function requestKey(q: string, request: QueryRequest, derived: DerivedState): string {
  const { parameters, permitted, ...rest } = request;
  const seen = permitted === undefined ? null : digestOf(permitted);
  return JSON.stringify([q, parameters.source, [...parameters.values], rest, derived, seen]);
}

/** Digests of conditions: those of many policies are long, and the same for each request of somebody. */
const digests = new WeakMap<Permitted, string>();

function digestOf(permitted: Permitted): string {
  const known = digests.get(permitted);
  if (known !== undefined) return known;
  const digest = createHash('sha256').update(JSON.stringify(permitted)).digest('base64');
  digests.set(permitted, digest);
  return digest;
}

/** What a request asks of a query, wherever it stood in it. */
export interface QueryRequest {
  readonly parameters: QueryParameters;
  readonly ehrId: string | null;
  readonly fetch: number | null;
  readonly offset: number | null;
  readonly asOf: Date | null;
  /** Whether the rows must have the EHRs they are of. */
  readonly notesEhrs: boolean;
  /** What policies permit to who asks; absent: everything. */
  readonly permitted?: Permitted;
  /** Counts alone are answered, of so many EHRs each; absent: whatever is asked for. */
  readonly leastPatients?: number;
}
