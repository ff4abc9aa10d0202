import { describe, expect, it } from '@jest/globals';
import { requireSameTemplate } from '../../../change/definition/template-change.js';

describe('the template of the next version', () => {
  it.each([
    ['a', 'a'],
    ['minimal.en.v1', 'minimal.en.v2'],
    ['minimal.en.v1', 'minimal.de.v1'],
    ['minimal.v1', 'minimal.v1.0.3'],
    ['minimal_v1.2', 'minimal_v1.10'],
    ['Minimal v1', 'Minimal v2'],
    ['minimal', 'minimal.v1'],
    ['minimal.v1.en', 'minimal.v1.pt-BR'],
  ])('may follow %s with %s', (previous, next) => {
    expect(() => {
      requireSameTemplate(previous, next);
    }).not.toThrow();
  });

  it.each([
    ['minimal.v1', 'other.v1', 'different template'],
    ['minimal.v2', 'minimal.v1', 'wrong template version bump'],
    ['minimal.v1.10', 'minimal.v1.9', 'wrong template version bump'],
    ['minimal.v1', 'minimal', 'wrong template version bump'],
  ])('may not follow %s with %s', (previous, next, message) => {
    expect(() => {
      requireSameTemplate(previous, next);
    }).toThrow(message);
  });

  it('may be any where none is known', () => {
    expect(() => {
      requireSameTemplate(undefined, 'a');
    }).not.toThrow();
  });
});
