import { describe, expect, it } from '@jest/globals';
import { fileParts, NO_FILE, roomForFile } from '../../../console/src/form/file-parts.js';
import { withValues } from '../../../console/src/form/values.js';

const MIB = 1024 * 1024;
const at = (parts: ReturnType<typeof fileParts>) =>
  Object.fromEntries(
    Object.entries(parts).map(([suffix, value]) => [suffix === '' ? 'm' : `m|${suffix}`, value]),
  );

describe('a file of a form', () => {
  it('leaves nothing of itself when it is taken away', () => {
    const file = { name: 'wound.png', size: 3, type: 'image/png' };
    const taken = withValues({ a: 'x', m: 'http://elsewhere' }, at(fileParts(file, 'QUJD')));
    expect(taken).toEqual({
      a: 'x',
      'm|data': 'QUJD',
      'm|size': 3,
      'm|mediatype': 'image/png',
      'm|alternatetext': 'wound.png',
    });
    expect(withValues(taken, at(NO_FILE))).toEqual({ a: 'x' });
  });

  it('goes in as far as there is room beside the others', () => {
    expect(roomForFile({}, undefined, 8 * MIB)).toBe(4 * MIB);
    const other = { 'm|data': 'x'.repeat(6 * MIB) };
    const room = roomForFile(other, undefined, 8 * MIB);
    expect(room).toBeLessThan(1.5 * MIB);
    expect(room).toBeGreaterThan(1.49 * MIB);
    expect(roomForFile(other, other['m|data'], 8 * MIB)).toBe(4 * MIB);
    expect(roomForFile({ 'm|data': 'x'.repeat(9 * MIB) }, undefined, 8 * MIB)).toBe(0);
    // What it becomes is no more than is there.
    expect(Math.ceil(room / 3) * 4 + JSON.stringify(other).length).toBeLessThanOrEqual(8 * MIB);
  });
});
