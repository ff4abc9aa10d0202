import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../../openehr/base/json.js';
import { compileTemplate } from '../../../openehr/template/compile.js';
import { exampleComposition } from '../../../openehr/template/example/example.js';
import { element, evaluation, node, template } from '../../support/openehr/opt-builder.js';
import { itemPath, itemsIn, optOf as optFor, RULE_CASES } from '../../support/openehr/rule-cases.js';
import { runHere } from '../../support/process/command-line.js';

const OPT = fileURLToPath(
  new URL('../../fixtures/openehr/opt/minimal_evaluation.en.v1.opt', import.meta.url),
);
const TREE = '/content[openEHR-EHR-EVALUATION.test.v1]/data[at0001]';

const folder = mkdtempSync(join(tmpdir(), 'everchart-revision-'));
const written = (name: string, text: string): string => {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
};
const optOf = (items: string): string => template(evaluation(items, { at0002: 'First', at0003: 'Second' }));
const first = optOf(element('at0002', node('DV_TEXT')));
const second = optOf(element('at0003', node('DV_TEXT')));
const [from, to] = [written('first.opt', first), written('second.opt', second)];

afterAll(() => {
  rmSync(folder, { recursive: true });
});

describe('everchart template compare', () => {
  it('says that nothing differs', async () => {
    expect(await runHere('template', 'compare', OPT, OPT)).toEqual({ code: 0, stdout: 'same\n', stderr: '' });
  });

  it('fails where data may break, and says by what', async () => {
    const { code, stdout } = await runHere('template', 'compare', from, to, '--json');
    const { verdict, changes } = JSON.parse(stdout) as { verdict: string; changes: JsonObject[] };
    expect([code, verdict]).toEqual([1, 'breaking']);
    expect(changes.map(({ kind, path }) => [kind, path])).toEqual([
      ['removed', `${TREE}/items[at0002]`],
      ['added', `${TREE}/items[at0003]`],
    ]);
    expect((await runHere('template', 'compare', from, to)).stdout).toContain(
      'nothing takes what stood there',
    );
  });
});

describe('everchart template test', () => {
  const composition = exampleComposition(compileTemplate(first), { detailLevel: 'complete', type: 'input' });
  const rules = written(
    'rules.json',
    JSON.stringify({ rules: [{ move: `${TREE}/items[at0002]`, to: `${TREE}/items[at0003]` }] }),
  );
  const nothing = written('nothing.json', JSON.stringify({ rules: [] }));
  const test = (file: string, against: string) =>
    runHere('template', 'test', file, '--from', from, '--to', to, '--against', against);

  it('tells which COMPOSITIONs are valid after the rules', async () => {
    const examples = mkdtempSync(join(folder, 'examples-'));
    writeFileSync(join(examples, 'one.json'), JSON.stringify(composition));
    expect(await test(rules, examples)).toEqual({ code: 0, stdout: 'one.json: mapped\n', stderr: '' });
    const { code, stdout, stderr } = await test(nothing, examples);
    expect([code, stdout]).toEqual([1, 'one.json: invalid\n']);
    expect(stderr).toContain('nodeId:at0002,name:First; not in template');
  });

  it.each(RULE_CASES)('knows each kind of rule: $kind', async ({ kind, before, after, rule, values }) => {
    const [one, other] = [optFor(before), optFor(after)];
    const opts = ['--from', written(`${kind}-1.opt`, one), '--to', written(`${kind}-2.opt`, other)];
    const examples = mkdtempSync(join(folder, kind));
    const given = exampleComposition(compileTemplate(one), { detailLevel: 'complete', type: 'input' });
    const expected = exampleComposition(compileTemplate(other), { detailLevel: 'complete', type: 'input' });
    for (const { archetype_node_id: id, value } of itemsIn(expected)) Object.assign(value, values[id]);
    writeFileSync(join(examples, 'one.json'), JSON.stringify(given));
    writeFileSync(join(examples, 'one.after.json'), JSON.stringify(expected));
    const file = written(`${kind}.json`, JSON.stringify({ rules: [rule] }));
    const { code, stdout, stderr } = await runHere('template', 'test', file, ...opts, '--against', examples);
    expect([code, stdout, stderr]).toEqual([0, 'one.json: mapped\n', '']);
  });

  it('refuses to lose data without consent', async () => {
    const drop = written('drop.json', JSON.stringify({ rules: [{ drop: itemPath('at0002') }] }));
    const { code, stderr } = await test(drop, folder);
    expect([code, stderr]).toEqual([1, expect.stringContaining('it needs "consent": true')]);
  });

  it('compares with what is expected', async () => {
    const examples = mkdtempSync(join(folder, 'expected-'));
    writeFileSync(join(examples, 'one.json'), JSON.stringify(composition));
    writeFileSync(join(examples, 'one.after.json'), JSON.stringify(composition));
    const { code, stderr } = await test(rules, examples);
    expect([code, stderr]).toEqual([1, expect.stringContaining('one.after.json says')]);
  });

  it('wants COMPOSITIONs', async () => {
    const { code, stderr } = await test(rules, mkdtempSync(join(folder, 'empty-')));
    expect([code, stderr]).toEqual([1, expect.stringContaining('has no COMPOSITIONs')]);
  });
});
