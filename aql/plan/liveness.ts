import { fieldsOf } from './expression.js';
import { fieldsOfMatch } from '../index/stage.js';
import { demandsOf } from './steps.js';
import type {
  CutStep,
  DocumentsStep,
  FilterStep,
  LookupStep,
  MatchStep,
  MergeStep,
  ProjectStep,
  SortStep,
  Step,
} from './steps.js';
import { counted, step } from '../../openehr/base/work.js';

/** The first step after which a field is still read, and the last one. */
interface Range {
  readonly from: number;
  readonly to: number;
}

interface Reads {
  /** The last step after which the field is read. */
  readonly to: number;
  /** Dotted paths that are read, without the field's own name; '' for the field as a whole. */
  readonly paths: Set<string>;
}

/**
 * Which top-level fields are read after which step. One walk from the last step to the first: a field lives from
 * the step that makes it to the last one that reads it, so what is kept grows with the reads and not with the
 * steps times the fields.
 */
export class Liveness {
  private readonly ranges = new Map<string, Range[]>();
  private readonly below = new Map<number, ReadonlySet<string>>();
  private readonly live = new Map<string, Reads>();

  /** `needed`: dotted fields that are read after the last step. */
  constructor(steps: readonly Step[], needed: ReadonlySet<string>) {
    this.read(needed, steps.length - 1);
    for (let i = steps.length - 1; i >= 0; i--) {
      const step = steps[i];
      if (step !== undefined) this.pass(step, i);
    }
    for (const field of counted([...this.live.keys()])) this.end(field, -1);
  }

  /** Whether a later step than `index`, or the end, reads a field or something in it. */
  isLive(field: string, index: number): boolean {
    return counted(this.ranges.get(field))?.some(({ from, to }) => from <= index && index <= to) ?? false;
  }

  /** The fields that are live after the step at `index`. */
  liveAt(index: number): string[] {
    return counted([...this.ranges.keys()]).filter((field) => this.isLive(field, index));
  }

  /** The dotted fields that are read below the field that the join at `index` makes. */
  readBelow(index: number): ReadonlySet<string> {
    return this.below.get(index) ?? new Set();
  }

  private pass(step: Step, index: number): void {
    const before = index - 1;
    switch (step.kind) {
      case 'group':
        for (const field of counted([...this.live.keys()])) this.end(field, index);
        this.read(fieldsOf([step.id, ...Object.values(step.accumulators)]), before);
        return;
      case 'unwind':
        if (step.index !== null) this.end(step.index, index);
        this.read([step.field], before);
        return;
      case 'count':
        this.end(step.field, index);
        return;
      case 'set':
        if (this.end(step.field, index) !== null) this.read(fieldsOf(step.value), before);
        return;
      case 'project':
        this.passProject(step, index);
        return;
      case 'merge':
        this.passMerge(step, index);
        return;
      case 'lookup':
        this.passLookup(step, index);
        return;
      default:
        this.read(fieldsReadBy(step), before);
    }
  }

  private passProject({ values }: ProjectStep, index: number): void {
    const read = counted(Object.entries(values)).filter(([field]) => this.end(field, index) !== null);
    for (const [, value] of counted(read)) this.read(fieldsOf(value), index - 1);
  }

  private passMerge({ field, parts }: MergeStep, index: number): void {
    const paths = this.end(field, index);
    if (paths === null) return;
    for (const part of counted(parts)) {
      this.read([part], index - 1);
      this.read(
        counted([...paths]).map((path) => (path === '' ? part : `${part}.${path}`)),
        index - 1,
      );
    }
  }

  private passLookup({ as, localField, variables }: LookupStep, index: number): void {
    const paths = this.end(as, index);
    if (paths === null) return;
    paths.delete('');
    this.below.set(index, paths);
    if (localField !== null) this.read([localField], index - 1);
    this.read(fieldsOf(variables), index - 1);
  }

  private read(paths: Iterable<string>, index: number): void {
    for (const path of paths) {
      step();
      const field = rootOf(path);
      let reads = this.live.get(field);
      if (reads === undefined) this.live.set(field, (reads = { to: index, paths: new Set() }));
      reads.paths.add(path.slice(field.length + 1));
    }
  }

  /** A field is made anew by the step at `index`; gives what is read of it, null for nothing. */
  private end(field: string, index: number): Set<string> | null {
    const reads = this.live.get(field);
    if (reads === undefined) return null;
    this.live.delete(field);
    const ranges = this.ranges.get(field);
    const range = { from: index, to: reads.to };
    if (ranges === undefined) this.ranges.set(field, [range]);
    else ranges.push(range);
    return reads.paths;
  }
}

/** The fields that a step reads which makes none. */
function fieldsReadBy(step: DocumentsStep | MatchStep | FilterStep | SortStep | CutStep): Iterable<string> {
  switch (step.kind) {
    case 'documents':
      return counted([...demandsOf(step), ...step.exact]).flatMap((match) => [...fieldsOfMatch(match)]);
    case 'match':
      return fieldsOfMatch(step.match);
    case 'filter':
      return fieldsOf(step.condition);
    case 'sort':
      return counted(step.keys).map(([field]) => field);
    case 'skip':
    case 'limit':
      return [];
  }
}

/** The top-level field of a dotted one. */
export function rootOf(path: string): string {
  const dot = path.indexOf('.');
  return dot < 0 ? path : path.slice(0, dot);
}
