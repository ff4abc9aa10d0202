import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../../console/src/api/types.js';
import {
  filedIds,
  newFolder,
  withFiled,
  withFolder,
  withoutFiled,
} from '../../../console/src/record/folders.js';

describe('the folders of the console', () => {
  const root: JsonObject = {
    ...newFolder('root'),
    uid: { value: 'x::sys::1' },
    links: [{ meaning: 'kept' }],
  };
  const tree = withFolder(withFolder(root, [], 'first'), [0], 'below');

  it('files a document once, where it was dropped, and touches nothing else', () => {
    const once = withFiled(tree, [0, 0], 'doc');
    expect(withFiled(once, [0, 0], 'doc')).toEqual(once);
    expect(filedIds(once)).toEqual(new Set(['doc']));
    expect(withoutFiled(once, [0, 0], 'doc')).toEqual(tree);
    expect(once.links).toEqual(root.links);
    expect(JSON.stringify(once.folders)).toMatch(/"first".*"below".*"doc"/);
  });

  it('takes a document out that is filed by a version', () => {
    const item = { id: { value: 'doc::sys::3' } };
    expect(filedIds(withoutFiled({ ...root, items: [item] }, [], 'doc')).size).toBe(0);
  });
});
