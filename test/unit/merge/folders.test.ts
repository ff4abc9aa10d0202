import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../../openehr/base/json.js';
import { asNewDirectory, withCopiedFolder, withoutCopy } from '../../../merge/plan/folders.js';

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

describe('withoutCopy', () => {
  const item = (id: string): JsonObject => ({ _type: 'OBJECT_REF', id: { value: id } });
  const copied = folder('Merged', {
    items: [item('1')],
    folders: [folder('visits', { items: [item('2')] })],
  });
  const bare = (one: JsonObject): JsonObject =>
    Object.fromEntries(Object.entries(one).filter(([name]) => name !== 'uid'));

  it('takes the FOLDER out wherever it is', () => {
    const root = folder('r', { folders: [folder('a', { folders: [copied, folder('y')] }), folder('b')] });
    expect(withoutCopy(root, copied)).toEqual({
      root: folder('r', { folders: [folder('a', { folders: [folder('y')] }), folder('b')] }),
      kept: [],
    });
    expect(withoutCopy(folder('r', { folders: [copied] }), copied)?.root).toEqual(folder('r'));
  });

  it('knows it by its name, or by its items, when a client wrote it without uid', () => {
    for (const one of [bare(copied), { ...bare(copied), name: text('renamed') }]) {
      expect(withoutCopy(folder('r', { folders: [one, folder('b')] }), copied)).toEqual({
        root: folder('r', { folders: [folder('b')] }),
        kept: [],
      });
    }
  });

  it('keeps at the root what others put into it, and names it', () => {
    const worked = {
      ...copied,
      items: [item('1'), item('new')],
      folders: [folder('visits', { items: [item('2'), item('3')] }), folder('b')],
    };
    expect(
      withoutCopy(folder('r', { items: [item('own')], folders: [worked, folder('b')] }), copied),
    ).toEqual({
      root: folder('r', {
        items: [item('own'), item('new'), item('3')],
        folders: [folder('b'), { ...folder('b'), name: text('b (2)') }],
      }),
      kept: ['FOLDER b (2)', 'item new', 'item 3'],
    });
  });

  it('tells when it is not there', () => {
    expect(withoutCopy(folder('r', { folders: [folder('a')] }), copied)).toBeNull();
    expect(withoutCopy(folder('Merged'), copied)).toBeNull();
  });
});
