import { Argument, Command, type Option } from 'commander';
import { PRODUCT } from '../../routes/http/product.js';
import { writeShown } from '../shown.js';

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;

/** `everchart completion`: the words of all commands, which `every` gives, for a shell. */
export function completionCommand(every: () => Promise<Command[]>): Command {
  return new Command('completion')
    .addArgument(new Argument('<shell>').choices(Object.keys(SCRIPTS)))
    .addHelpText(
      'after',
      `
  bash: echo 'source <(${PRODUCT} completion bash)' >> ~/.bashrc
  zsh:  echo 'source <(${PRODUCT} completion zsh)' >> ~/.zshrc
  fish: ${PRODUCT} completion fish > ~/.config/fish/completions/${PRODUCT}.fish`,
    )
    .action(async (shell: keyof typeof SCRIPTS) => {
      const root = new Command(PRODUCT);
      for (const command of await every()) root.addCommand(command);
      writeShown(process.stdout, SCRIPTS[shell](wordsBelow(root, '')));
    });
}

/** What may follow the words typed so far. */
interface Place {
  /** Names of commands, separated by blanks; '' at the beginning. */
  readonly path: string;
  readonly words: readonly { readonly word: string; readonly description: string }[];
}

function wordsBelow(command: Command, path: string): Place[] {
  const subs = command.commands.map((sub) => ({ word: sub.name(), description: sub.description() }));
  const flags = [...command.options.flatMap(flagsOf), { word: '--help', description: 'display help' }];
  const below = command.commands.flatMap((sub) => wordsBelow(sub, `${path} ${sub.name()}`.trim()));
  return [{ path, words: [...subs, ...flags] }, ...below];
}

function flagsOf({ long, description, hidden }: Option): Place['words'] {
  return typeof long === 'string' && !hidden ? [{ word: long, description }] : [];
}

/** Both shells look the words typed so far up in one table; where they are no command, files are offered. */
function table(places: readonly Place[], word: (one: Place['words'][number]) => string): string {
  return places.map(({ path, words }) => `    '${path}') words=(${words.map(word).join(' ')}) ;;`).join('\n');
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

function bashScript(places: readonly Place[]): string {
  return `# Completion of ${PRODUCT} in bash: source this file.
_${PRODUCT}() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path='' word words=()
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ $word == -* ]] && break
    _${PRODUCT}_words "\${path:+$path }$word" && path="\${path:+$path }$word"
  done
  _${PRODUCT}_words "$path"
  COMPREPLY=($(compgen -W "\${words[*]}" -- "$current"))
}
_${PRODUCT}_words() {
  case $1 in
${table(places, ({ word }) => word)}
    *) return 1 ;;
  esac
}
complete -o default -F _${PRODUCT} ${PRODUCT}
`;
}

function zshScript(places: readonly Place[]): string {
  const described = ({ word, description }: Place['words'][number]): string =>
    quoted(`${word.replaceAll(':', String.raw`\:`)}:${description}`);
  return `#compdef ${PRODUCT}
# Completion of ${PRODUCT} in zsh: source this file.
_${PRODUCT}_words() {
  case $1 in
${table(places, described)}
    *) return 1 ;;
  esac
}
_${PRODUCT}() {
  local at='' word
  local -a words_before=("\${(@)words[2,CURRENT-1]}")
  local -a words
  for word in "\${words_before[@]}"; do
    [[ $word == -* ]] && break
    _${PRODUCT}_words "\${at:+$at }$word" && at="\${at:+$at }$word"
  done
  _${PRODUCT}_words "$at"
  _describe '${PRODUCT}' words || _files
}
compdef _${PRODUCT} ${PRODUCT}
`;
}

function fishScript(places: readonly Place[]): string {
  const lines = places.flatMap(({ path, words }) =>
    words.map(({ word, description }) => {
      const shown = word.startsWith('--') ? `-l ${word.slice(2)}` : `-f -a ${word}`;
      return `complete -c ${PRODUCT} -n ${quoted(`__${PRODUCT}_at ${path}`)} ${shown} -d ${quoted(description)}`;
    }),
  );
  return `# Completion of ${PRODUCT} in fish: save as ~/.config/fish/completions/${PRODUCT}.fish.
function __${PRODUCT}_at
  set -l words (string match -v -- '-*' (commandline -opc)[2..-1])
  test "$words" = "$argv"
end
${lines.join('\n')}
`;
}
