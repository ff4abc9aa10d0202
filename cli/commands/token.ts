import { Command, InvalidArgumentError, Option } from 'commander';
import { configFromEnvironment, warnOfMisspeltSettings } from '../../src/settings/config.js';
import { developmentToken, lifetimeSeconds } from '../development-token.js';
import { commandLogger } from '../../src/logger.js';

interface TokenOptions {
  readonly role: 'admin' | 'user';
  readonly user: string;
  readonly ttl: number;
}

/** `everchart token`: a development token, signed with `JWT_SECRET`. */
export function tokenCommand(): Command {
  return new Command('token')
    .description('Prints a development token, signed with JWT_SECRET')
    .addOption(new Option('--role <role>', 'role of the token').choices(['admin', 'user']).default('user'))
    .option('--user <name>', 'name of the user', 'developer')
    .addOption(
      new Option('--ttl <lifetime>', 'lifetime: 90s, 15m, 1h, 7d').argParser(lifetimeOf).default(3600, '1h'),
    )
    .action(printToken);
}

function printToken(options: TokenOptions): void {
  const { jwt } = configFromEnvironment();
  warnOfMisspeltSettings(commandLogger());
  const roles = [options.role === 'admin' ? jwt.roleAdmin : jwt.roleUser];
  const request = { user: options.user, roles, lifetimeSeconds: options.ttl };
  process.stdout.write(`${developmentToken(jwt, request)}\n`);
}

function lifetimeOf(text: string): number {
  try {
    return lifetimeSeconds(text);
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? error.message : String(error));
  }
}
