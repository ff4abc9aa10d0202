import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseAql } from '../../../aql/syntax/parse.js';
import { renderAql } from '../../../aql/syntax/render.js';
import { canonicalText } from '../../../aql/evaluate/canonical-text.js';
import type { JsonValue } from '../../../openehr/base/json.js';
import { treeOf } from '../../support/aql/tree.js';
import { queryTrees } from '../../support/aql/trees.js';

const treeText = (query: unknown): string => canonicalText(treeOf(query) as JsonValue);

describe('rendering', () => {
  it('gives text that reads as the same tree', () => {
    fc.assert(
      fc.property(queryTrees, (query) => {
        expect(treeText(parseAql(renderAql(query)))).toBe(treeText(query));
      }),
      { numRuns: 200 },
    );
  });
});
