import { describe, expect, it } from '@jest/globals';

import { parsePrefer } from '../../../routes/http/request/prefer.js';

describe('parsePrefer', () => {
  it.each([
    ['', 'minimal', false, ''],
    ['return=minimal', 'minimal', false, 'return=minimal'],
    ['return=representation', 'representation', false, 'return=representation'],
    ['RETURN=Representation', 'representation', false, 'return=representation'],
    ['return = "identifier"', 'identifier', false, 'return=identifier'],
    ['return=representation, resolve_refs', 'representation', true, 'return=representation, resolve_refs'],
    ['resolve_refs', 'minimal', true, 'resolve_refs'],
    ['return=minimal, return=representation', 'minimal', false, 'return=minimal'],
    ['return=everything', 'minimal', false, ''],
    ['return=everything, return=identifier', 'identifier', false, 'return=identifier'],
    [
      'return=representation; x=1, resolve_refs;y',
      'representation',
      true,
      'return=representation, resolve_refs',
    ],
    ['respond-async, wait=10', 'minimal', false, ''],
  ])('reads %j', (header, returns, resolveRefs, applied) => {
    expect(parsePrefer(header)).toEqual({
      returns,
      resolveRefs,
      applied,
      isLenient: false,
      keepsUnshown: false,
    });
  });

  it('reads unshown=keep', () => {
    expect(parsePrefer('return=minimal, unshown=keep').keepsUnshown).toBe(true);
    expect(parsePrefer('unshown=drop').keepsUnshown).toBe(false);
  });

  it('reads validation=lenient', () => {
    expect(parsePrefer('validation=lenient').isLenient).toBe(true);
    expect(parsePrefer('validation=strict').isLenient).toBe(false);
  });
});
