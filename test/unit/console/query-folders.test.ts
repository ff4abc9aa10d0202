import { describe, expect, it } from '@jest/globals';
import { queryFolders } from '../../../console/src/pages/query/stored/query-folders.js';

const stored = (name: string, version = '1.0.0', q = 'SELECT 1') => ({
  name,
  version,
  q,
  type: 'AQL' as const,
  saved: '2026-01-01T00:00:00Z',
});

describe('stored queries in folders', () => {
  it('stand by what is before the colons of their name, each once with its versions, newest first', () => {
    const found = queryFolders([
      stored('org.b::z'),
      stored('alone'),
      stored('org.a::x', '1.9.0'),
      stored('org.a::x', '1.10.0'),
      stored('org.a::x', '1.10.0-rc.2'),
      stored('org.a::x', '1.10.0-rc.10'),
      stored('org.a::w'),
    ]);
    expect(found.map(({ folder }) => folder)).toEqual(['', 'org.a', 'org.b']);
    expect(found[1]?.queries.map(({ label }) => label)).toEqual(['w', 'x']);
    expect(found[1]?.queries[1]?.name).toBe('org.a::x');
    expect(found[1]?.queries[1]?.versions.map(({ version }) => version)).toEqual([
      '1.10.0',
      '1.10.0-rc.10',
      '1.10.0-rc.2',
      '1.9.0',
    ]);
  });

  it('are found by a piece of the name or of the text', () => {
    const all = [stored('org.a::x', '1.0.0', 'SELECT o/Systolic'), stored('org.a::pulse')];
    const names = (fits: string) =>
      queryFolders(all, fits).flatMap(({ queries }) => queries.map((q) => q.name));
    expect(names('systol')).toEqual(['org.a::x']);
    expect(names('PULSE')).toEqual(['org.a::pulse']);
    expect(names('nothing')).toEqual([]);
  });
});
