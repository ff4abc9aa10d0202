import { expect, it } from '@jest/globals';
import type { Command } from 'commander';
import { COMMANDS } from '../../../cli/commands.js';

/** Commands that do something, with their words. */
function* endsOf(command: Command, words: string): Generator<readonly [words: string, options: string[]]> {
  for (const sub of command.commands) yield* endsOf(sub, `${words} ${sub.name()}`);
  const options = command.options.map(({ long }) => long ?? '');
  if (command.commands.length === 0) yield [words, options];
}

/** What works on the database itself, or on files. */
const LOCAL = ['merge repair', 'audit prune', 'template compare', 'template test'];

it.each(['ehr', 'composition', 'merge', 'query', 'audit', 'job', 'template'])(
  'every word of %s asks any server, as anybody, and answers programs too',
  async (group) => {
    const command = await COMMANDS[group]!.load();
    const ends = [...endsOf(command, group)].filter(([words]) => !LOCAL.includes(words));
    expect(ends.length).toBeGreaterThan(1);
    for (const [words, options] of ends) {
      const asked = [
        '--url',
        '--user',
        '--token',
        ...(/^(?:template (?:get|upload)|audit export)$/.test(words) ? [] : ['--json']),
      ];
      expect([words, asked.filter((name) => !options.includes(name))]).toEqual([words, []]);
    }
  },
);
