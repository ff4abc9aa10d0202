import { Command, Option, InvalidArgumentError } from 'commander';
import { asciiUpperCase, nearestWord } from '../../openehr/base/text.js';
import type { RolePermissions } from '../../config/settings.js';
import { configFromEnvironment, warnOfMisspeltSettings } from '../../src/settings/config.js';
import { textTable } from '../output.js';
import { givenPassword, hashPassword } from '../../src/identity/password.js';
import { allowedPassword } from '../../src/identity/password-rules.js';
import { changeUsers, isUserName, readUsers } from '../../src/identity/users-file.js';
import { developmentToken, lifetimeSeconds } from '../development-token.js';
import { commandLogger } from '../../src/logger.js';
import { JSON_FLAG, print, type JsonOption } from './print.js';
import { writeShown } from '../shown.js';

interface FileOptions {
  readonly file?: string;
}

interface AddOptions extends FileOptions {
  readonly role: readonly string[];
  readonly passwordStdin?: true;
  readonly replace?: true;
  readonly person?: string;
}

/** `everchart user`: the users of Basic authentication. */
export function userCommand(): Command {
  const add = new Command('add')
    .description('Adds a user; asks for the password, or reads it from standard input')
    .argument('<name>')
    .addOption(
      new Option('--role <role>', 'role of the user; may be given several times')
        .argParser((role: string, roles: readonly string[] | undefined) => [...(roles ?? []), role])
        .makeOptionMandatory(),
    )
    .option('--password-stdin', 'read the password from standard input, without asking')
    .option('--replace', 'give a user that exists this password and these roles')
    .option(
      '--person <sub>',
      "the `sub` of the same person's tokens, so that both count as one for FOUR_EYES",
    )
    .action((name: string, options: AddOptions) => addUser(name, options));
  const remove = new Command('remove')
    .description('Removes a user')
    .argument('<name>')
    .action((name: string, options: FileOptions) => {
      removeUser(name, options);
    });
  const list = new Command('list')
    .description('Prints the users and their roles')
    .option(...JSON_FLAG)
    .action(listUsers);
  const command = new Command('user');
  for (const sub of [add, remove, list])
    command.addCommand(sub.option('--file <path>', 'users file (default: BASIC_USERS_FILE)'));
  return command;
}

async function addUser(name: string, options: AddOptions): Promise<void> {
  const { path, rolePermissions } = place(options);
  if (!isUserName(name))
    throw new Error('a user name has 1 to 255 characters, and neither a colon nor control characters');
  const roles = [...new Set(options.role.map((role) => knownRole(role, rolePermissions)))];
  const scrypt = await hashPassword(
    await allowedPassword(await givenPassword(options.passwordStdin === true)),
  );
  const { person } = options;
  const user = { name: name.normalize('NFC'), roles, scrypt, ...(person !== undefined && { person }) };
  changeUsers(path, (users) => {
    if (users.has(user.name) && options.replace !== true)
      throw new Error(`the user ${name} exists; --replace gives a new password and new roles`);
    return new Map(users).set(user.name, user);
  });
  writeShown(process.stdout, `${name} may sign in as ${roles.join(', ')}\n`);
}

function removeUser(name: string, options: FileOptions): void {
  changeUsers(place(options).path, (users) => {
    const rest = new Map(users);
    if (!rest.delete(name.normalize('NFC'))) throw new Error(`there is no user ${name}`);
    return rest;
  });
  writeShown(process.stdout, `${name} is removed\n`);
}

/** Never with what stands for a password. */
function listUsers(options: FileOptions & JsonOption): void {
  const users = [...readUsers(place(options).path).values()].map(({ name, roles, person }) => ({
    name,
    roles,
    ...(person !== undefined && { person }),
  }));
  const rows = users.map(({ name, roles, person = '' }) => [name, roles.join(', '), person]);
  print(options, users, () => textTable(['name', 'roles', 'person'], rows));
}

function place({ file }: FileOptions): { readonly path: string; readonly rolePermissions: RolePermissions } {
  const { basicUsersFile, rolePermissions } = configFromEnvironment();
  const path = file ?? basicUsersFile;
  if (path === null) throw new Error('set BASIC_USERS_FILE or give --file');
  return { path, rolePermissions };
}

function knownRole(role: string, known: RolePermissions): string {
  const name = asciiUpperCase(role);
  if (Object.hasOwn(known, name)) return name;
  const names = Object.keys(known);
  const meant = nearestWord(name, names);
  const question = meant === null ? '.' : `, did you mean ${meant}?`;
  throw new Error(`the role ${role} may do nothing${question} ROLE_PERMISSIONS knows ${names.join(', ')}`);
}

interface TokenOptions {
  readonly role: 'admin' | 'user';
  readonly user: string;
  readonly ttl: number;
  readonly scope?: string;
  readonly ehr?: string;
  readonly ownEhr?: string;
}

/** `everchart token`: a development token, signed with `JWT_SECRET`. */
export function tokenCommand(): Command {
  return new Command('token')
    .addOption(new Option('--role <role>', 'role of the token').choices(['admin', 'user']).default('user'))
    .option('--user <name>', 'name of the user', 'developer')
    .option('--scope <scopes>', 'what an application may do for him, such as "patient/composition-*.rs"')
    .option('--ehr <ehr_id>', 'the EHR that scopes of a patient are about')
    .option('--own-ehr <ehr_id>', 'the EHR of the user himself, who is a patient')
    .addOption(
      new Option('--ttl <lifetime>', 'lifetime: 90s, 15m, 1h, 7d').argParser(lifetimeOf).default(3600, '1h'),
    )
    .action(printToken);
}

function printToken(options: TokenOptions): void {
  const { jwt } = configFromEnvironment();
  warnOfMisspeltSettings(commandLogger());
  const roles = [options.role === 'admin' ? jwt.roleAdmin : jwt.roleUser];
  const { user, ttl: lifetimeSeconds, scope, ehr: ehrId, ownEhr: ownEhrId } = options;
  const request = {
    ...{ user, roles, lifetimeSeconds },
    ...(scope !== undefined && { scope }),
    ...(ehrId !== undefined && { ehrId }),
    ...(ownEhrId !== undefined && { ownEhrId }),
  };
  writeShown(process.stdout, `${developmentToken(jwt, request)}\n`);
}

function lifetimeOf(text: string): number {
  try {
    return lifetimeSeconds(text);
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? error.message : String(error));
  }
}
