/** A merge as an arrow. */
interface Arrow {
  readonly source_ehr: string;
  readonly target_ehr: string;
}

/** An EHR in the picture; columns and rows count from 0, the EHR in which all ends stands in the last column. */
export interface GraphNode {
  readonly ehrId: string;
  readonly column: number;
  readonly row: number;
  /** Where its data went; null: it lives. */
  readonly target: string | null;
}

/** Merges as a picture. */
export interface MergeGraph {
  readonly nodes: readonly GraphNode[];
  readonly columns: number;
  readonly rows: number;
}

/** Merges that stand: each EHR was merged once at most, so they are trees that grow to the left. */
export function mergeGraph(merges: readonly Arrow[]): MergeGraph {
  const targets = new Map(merges.map(({ source_ehr, target_ehr }) => [source_ehr, target_ehr]));
  const sources = new Map<string, string[]>();
  for (const [source, target] of targets) sources.set(target, [...(sources.get(target) ?? []), source]);
  const roots = [...sources.keys()].filter((ehrId) => !targets.has(ehrId));
  const placed: { ehrId: string; depth: number; row: number }[] = [];
  let rows = 0;
  // Not by recursion: a chain may be as long as there are merges.
  const open = roots.map((ehrId) => ({ ehrId, depth: 0, isFirst: false })).reverse();
  for (let each = open.pop(); each !== undefined; each = open.pop()) {
    const { ehrId, depth, isFirst } = each;
    // The first source stands in the row of its target, so that a chain is one line.
    if (!isFirst) rows += 1;
    placed.push({ ehrId, depth, row: rows - 1 });
    const below = (sources.get(ehrId) ?? []).map((source, index) => ({
      ehrId: source,
      depth: depth + 1,
      isFirst: index === 0,
    }));
    open.push(...below.reverse());
  }
  const columns = placed.reduce((most, { depth }) => Math.max(most, depth + 1), 0);
  const nodes = placed.map(({ ehrId, depth, row }) => ({
    ehrId,
    row,
    column: columns - 1 - depth,
    target: targets.get(ehrId) ?? null,
  }));
  return { nodes, columns, rows };
}
