import { describe, expect, it } from '@jest/globals';
import type { TemplateChange, WebTemplate } from '../../../packages/client/src/definitions.js';
import { changedNode, saidText } from '../../../console/src/record/template-change.js';
import { de } from '../../../console/src/messages/de.js';
import { partWords } from '../../../console/src/messages/difference-words.js';
import { translator } from '../../../console/src/messages/translate.js';
import { publicTemplate } from '../../support/openehr/templates.js';

const web = JSON.parse(String(publicTemplate('minimal_evaluation.en.v1').webTemplateText)) as WebTemplate;
const ITEMS = '/content[openEHR-EHR-EVALUATION.minimal.v1]/data[at0001]/items';
const change = (path: string, to: unknown = null): TemplateChange => ({
  path,
  kind: 'added',
  what: 'node',
  verdict: 'minor',
  from: null,
  to,
  reason: '',
});

describe('a change of a template', () => {
  it.each([
    ['the node of the stored template', change(`${ITEMS}[at0002]`), 'quantity'],
    ['a node that comes', change(`${ITEMS}[at0009]`, { name: 'Comment', rm_type: 'ELEMENT' }), 'Comment'],
    ['a part without a name', change(ITEMS), 'items'],
    ['the whole', change(''), ''],
  ])('is named by %s', (_, each, name) => {
    expect(name).toBeDefined();
    expect(changedNode(each, web, 'en')).toBe(name);
  });

  it.each([
    [null, ''],
    ['0..1', '0..1'],
    [['kg', 'g'], 'kg, g'],
    [{ rm_type: 'ELEMENT', name: 'Comment', occurrences: '0..1' }, 'ELEMENT 0..1'],
    [{ includes: [] }, '{"includes":[]}'],
  ])('says in short what a template says: %j', (said, text) => {
    expect(saidText(said)).toBe(text);
  });

  it('has a word for its part in the language of the reader, or that of the server', () => {
    const t = translator(de, 'de');
    expect([partWords('units', t), partWords('something_new', t)]).toEqual(['Einheiten', 'something_new']);
  });
});
