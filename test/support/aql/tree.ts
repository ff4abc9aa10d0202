/** A syntax tree without places and source texts: two trees are the same query when these are equal. */
export function treeOf(tree: unknown): unknown {
  if (Array.isArray(tree)) return tree.map(treeOf);
  if (typeof tree !== 'object' || tree === null) return tree;
  const isColumn = 'alias' in tree;
  const kept = Object.entries(tree).filter(([key]) => key !== 'at' && !(isColumn && key === 'text'));
  return Object.fromEntries(kept.map(([key, value]) => [key, treeOf(value)]));
}
