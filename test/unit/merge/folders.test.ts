import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../../openehr/base/json.js';
import { asNewDirectory, withCopiedFolder, withoutFolder } from '../../../merge/folders.js';

const copy = (root: JsonObject, survivors: readonly [string, string][] = []) => ({
  root,
  sourceEhr: 'source',
  folderUid: 'new-uid',
  survivors: new Map(survivors),
});
const text = (value: string): JsonObject => ({ _type: 'DV_TEXT', value });
const folder = (name: string, further: JsonObject = {}): JsonObject => ({
  _type: 'FOLDER',
  uid: { value: `${name}-uid` },
  name: text(name),
  archetype_node_id: 'openEHR-EHR-FOLDER.generic.v1',
  ...further,
});

describe('withCopiedFolder', () => {
  it('keeps everything of the source but name and uid', () => {
    const root = folder('mine', {
      details: { a: 1 },
      links: [{ b: 2 }],
      items: [],
      folders: [folder('inner')],
    });
    const result = withCopiedFolder(folder('theirs', { folders: [folder('first')] }), copy(root));
    expect(result).toEqual({
      ...folder('theirs'),
      folders: [
        folder('first'),
        { ...root, uid: { _type: 'HIER_OBJECT_ID', value: 'new-uid' }, name: text('Merged EHR source') },
      ],
    });
  });

  it('finds a name that no sibling has', () => {
    const taken = ['Merged EHR source', 'Merged EHR source (2)'].map((name) => folder(name));
    const { folders } = withCopiedFolder(folder('theirs', { folders: taken }), copy(folder('mine')));
    expect((folders as JsonObject[]).at(-1)).toMatchObject({ name: { value: 'Merged EHR source (3)' } });
  });

  it('redirects items at any depth, whatever form their id has', () => {
    const item = (value: string, _type = 'HIER_OBJECT_ID'): JsonObject => ({
      id: { _type, value },
      type: 'X',
    });
    const inner = folder('inner', { items: [item('A::local.cdr::2', 'OBJECT_VERSION_ID'), item('other')] });
    const root = folder('mine', {
      items: [item('a'), { id: { _type: 'GENERIC_ID', value: 'a', scheme: 's' } }],
      folders: [inner],
    });
    expect(asNewDirectory(copy(root, [['a', 'b']]))).toMatchObject({
      items: [item('b'), { id: { _type: 'GENERIC_ID', value: 'b', scheme: 's' } }],
      folders: [{ items: [item('b'), item('other')] }],
    });
  });
});

describe('asNewDirectory', () => {
  it('is the root under its own name, without uid', () => {
    const { uid: _, ...rest } = folder('mine', { folders: [folder('inner')] });
    expect(asNewDirectory(copy(folder('mine', { folders: [folder('inner')] })))).toEqual(rest);
    expect(_).toBeDefined();
  });
});

describe('withoutFolder', () => {
  it('takes the FOLDER out wherever it is', () => {
    const root = folder('r', {
      folders: [folder('a', { folders: [folder('x'), folder('y')] }), folder('b')],
    });
    expect(withoutFolder(root, 'x-uid')).toEqual(
      folder('r', { folders: [folder('a', { folders: [folder('y')] }), folder('b')] }),
    );
    expect(withoutFolder(folder('r', { folders: [folder('a')] }), 'a-uid')).toEqual(folder('r'));
  });

  it('tells when it is not there', () => {
    expect(withoutFolder(folder('r', { folders: [folder('a')] }), 'r-uid')).toBeNull();
  });
});
