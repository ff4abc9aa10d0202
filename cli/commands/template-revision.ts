import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Command } from 'commander';
import { jsonObjectOf, jsonOf, type JsonObject, type JsonValue } from '../../openehr/base/json.js';
import { violationText } from '../../openehr/base/violation.js';
import { validateRm } from '../../openehr/rm/invariants/validate.js';
import { readRm } from '../../openehr/rm/read.js';
import { compileTemplate, type CompiledTemplate } from '../../openehr/template/compile.js';
import type { Change } from '../../openehr/template/difference/change.js';
import { compareTemplates } from '../../openehr/template/difference/difference.js';
import { readRules } from '../../openehr/template/upgrade/rules.js';
import { upgradeBy, type UpgradedComposition } from '../../openehr/template/upgrade/upgrade.js';
import { validateAgainstTemplate } from '../../openehr/template/validate.js';
import { formerTextsOf } from '../../openehr/template/validate/former-texts.js';
import { textTable } from '../output.js';
import { CommandFailed } from './options.js';
import { writeShown } from '../shown.js';

/** `everchart template compare`: without a server, for authors and builds. */
export function compareCommand(): Command {
  return new Command('compare')
    .description(
      'Says what differs from one operational template to another, and what that means for data; exit code 1 when it may break them',
    )
    .argument('<before>', 'OPT file')
    .argument('<after>', 'OPT file')
    .option('--json', 'as JSON instead of a table')
    .action(compareFiles);
}

function compareFiles(before: string, after: string, options: { readonly json?: true }): void {
  const difference = compareTemplates(readTemplateFile(before), readTemplateFile(after));
  const { verdict, changes } = difference;
  const text = options.json === true ? JSON.stringify(difference) : `${verdict}\n${changeTable(changes)}`;
  writeShown(process.stdout, `${text.trimEnd()}\n`);
  if (verdict === 'breaking') throw new CommandFailed();
}

function readTemplateFile(file: string): CompiledTemplate {
  return compileTemplate(readFileSync(file, 'utf8'));
}

function changeTable(changes: readonly Change[]): string {
  if (changes.length === 0) return '';
  return textTable(
    ['verdict', 'change', 'path', 'from', 'to', 'reason'],
    changes.map(({ verdict, kind, what, path, from, to, reason }) => [
      verdict,
      `${what} ${kind}`,
      path === '' ? '/' : path,
      shown(from),
      shown(to),
      reason,
    ]),
  );
}

function shown(value: JsonValue): string {
  return value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value);
}

interface TestOptions {
  readonly from: string;
  readonly to: string;
  readonly against: string;
}

/** `everchart template test`: without a server, for authors of rules. */
export function testRulesCommand(): Command {
  return new Command('test')
    .description(
      'Applies the rules of an upgrade to COMPOSITIONs (canonical JSON) of a folder; exit code 1 when one is not valid after it, or not as <name>.after.json says',
    )
    .argument('<rules>', 'JSON file: {"rules": […]}')
    .requiredOption('--from <opt>', 'OPT file of the revision by which they are valid')
    .requiredOption('--to <opt>', 'OPT file of the revision by which they shall be')
    .requiredOption('--against <folder>', 'where they are')
    .action(testRules);
}

const AFTER = '.after.json';

function testRules(file: string, { from, to, against }: TestOptions): void {
  const [before, after] = [readTemplateFile(from), readTemplateFile(to)];
  const upgrade = upgradeBy(readRules(jsonOf(readFileSync(file, 'utf8'))), before, after);
  const names = readdirSync(against).filter((name) => name.endsWith('.json') && !name.endsWith(AFTER));
  if (names.length === 0) throw new Error(`${against} has no COMPOSITIONs`);
  let failed = 0;
  for (const name of names.sort()) {
    const composition = jsonObjectOf(readFileSync(join(against, name), 'utf8'));
    const upgraded = upgrade(composition);
    const expected = join(against, `${name.slice(0, -'.json'.length)}${AFTER}`);
    const wrong = [...problemsOf(upgraded, [before, after]), ...unexpected(upgraded, expected)];
    if (wrong.length > 0) failed += 1;
    const isSame = upgraded.changed.every((count) => count === 0);
    writeShown(process.stdout, `${name}: ${wrong.length > 0 ? 'invalid' : isSame ? 'valid' : 'mapped'}\n`);
    for (const line of wrong) writeShown(process.stderr, `  ${line}\n`);
  }
  if (failed > 0) throw new CommandFailed();
}

/** That an upgraded COMPOSITION is not, as JSON, what a file says; nothing where there is no such file. */
function unexpected({ composition }: UpgradedComposition, file: string): string[] {
  if (!existsSync(file)) return [];
  const made = JSON.stringify(composition);
  const isAsSaid = isDeepStrictEqual(jsonOf(made), jsonOf(readFileSync(file, 'utf8')));
  return isAsSaid ? [] : [`it is not as ${file} says: ${made}`];
}

/** What keeps an upgraded COMPOSITION from being stored. */
function problemsOf(
  { composition, problems }: UpgradedComposition,
  [before, after]: readonly [CompiledTemplate, CompiledTemplate],
): string[] {
  const said = problems.map(({ rule, path, reason }) => `rule ${rule}, ${path}: ${reason}`);
  const { object, violations } = readRm(composition, 'COMPOSITION');
  if (object === null) return [...said, ...violations.map(violationText)];
  const options = {
    checkExtraNodes: true,
    checkContainerCardinality: true,
    formerTexts: formerTextsOf([before]),
  };
  const content: JsonObject = object;
  const found = [...validateRm(content), ...validateAgainstTemplate(content, after, options)];
  return [...said, ...found.map(violationText)];
}
