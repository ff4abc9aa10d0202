import { expect, it } from '@jest/globals';
import { reportText } from '../../../cli/commands/verify.js';
import { Findings } from '../../../maintenance/verify-report.js';

it('what older releases did not record stands under a heading of its own, and is no violation', () => {
  const found = new Findings();
  found.addUnrecorded('a::local::2', 'it may be as somebody chose');
  const text = reportText(found.report(null));
  expect(text).toContain(
    'no violation\nnot recorded by older releases, no violations:\n  a::local::2  it may',
  );
  expect(reportText(new Findings().report(null))).not.toContain('not recorded');
});
