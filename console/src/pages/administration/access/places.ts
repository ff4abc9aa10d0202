/** The offset of a place that is counted from 1. */
export function offsetIn(text: string, line: number, column: number): number {
  const before = text.split('\n').slice(0, Math.max(0, line - 1));
  const start = before.reduce((sum, each) => sum + each.length + 1, 0);
  return Math.min(text.length, start + Math.max(0, column - 1));
}
