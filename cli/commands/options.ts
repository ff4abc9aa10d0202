import { InvalidArgumentError } from 'commander';

/** Reader of a whole number from `least` to `most` for an option. @throws InvalidArgumentError otherwise */
export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < least || value > most)
      throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
    return value;
  };
}

/** All values of an option that is given several times. */
export function together(value: string, before: readonly string[] = []): string[] {
  return [...before, value];
}

/** Ends a command with exit code 1 after it has said itself what went wrong. */
export class CommandFailed extends Error {}

/** An option of every command whose work nobody can take back. */
export interface YesOption {
  readonly yes?: true;
}

/** How `--yes` is declared. */
export const YES_FLAG = ['--yes', 'do it, without asking'] as const;

/** @throws Error that says what would be done, unless that was agreed to */
export function requireYes({ yes }: YesOption, what: string): void {
  if (yes !== true) throw new Error(`${what}, which cannot be taken back; --yes does it`);
}
