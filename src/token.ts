import { Command, Option } from 'commander';
import { configFromEnvironment } from './config.js';
import { developmentToken, lifetimeSeconds } from './development-token.js';

const program = new Command('token')
  .description('Prints a development token, signed with JWT_SECRET')
  .addOption(new Option('--role <role>', 'role of the token').choices(['admin', 'user']).default('user'))
  .option('--user <name>', 'name of the user', 'developer')
  .option('--ttl <lifetime>', 'lifetime: 90s, 15m, 1h, 7d', '1h')
  .parse();

const options = program.opts<{ role: 'admin' | 'user'; user: string; ttl: string }>();
try {
  const { jwt } = configFromEnvironment();
  const roles = [options.role === 'admin' ? jwt.roleAdmin : jwt.roleUser];
  const request = { user: options.user, roles, lifetimeSeconds: lifetimeSeconds(options.ttl) };
  process.stdout.write(`${developmentToken(jwt, request)}\n`);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
