import { describe, expect, it } from '@jest/globals';
import { asTypeScript } from '../../../console/src/pages/query/parameters.js';

describe('a query as a program', () => {
  it('keeps its lines and gives its options, with nothing that would end the literal', () => {
    const program = asTypeScript('http://127.0.0.1', {
      q: 'SELECT `${e}`\nFROM EHR e',
      query_parameters: { a: 1 },
      as_of: '2026-01-01T00:00:00Z',
    });
    expect(program).toContain('`SELECT \\`\\${e}\\`\nFROM EHR e`');
    expect(program).toContain('"asOf": "2026-01-01T00:00:00Z"');
    expect(program).not.toContain('query_parameters');
  });
});
