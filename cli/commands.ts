import type { Command } from 'commander';

/** A command by what the help says of it, and how it is had: a server need not load what the other commands are made of. */
interface CommandEntry {
  readonly description: string;
  readonly load: () => Promise<Command>;
}

/** By name, in the order of the help. */
export const COMMANDS: Readonly<Record<string, CommandEntry>> = {
  start: {
    description: 'Runs the server until it is stopped; every setting is an environment variable',
    load: async () => (await import('./commands/serve.js')).startCommand(),
  },
  demo: {
    description: 'Loads real templates and made-up patients over HTTP and runs four AQL queries',
    load: async () => (await import('./commands/serve.js')).demoCommand(),
  },
  database: {
    description:
      'Runs the embedded database (development and tests only) until it is stopped, on a UNIX socket of this user alone',
    load: async () => (await import('./commands/serve.js')).databaseCommand(),
  },
  token: {
    description: 'Prints a development token, signed with JWT_SECRET',
    load: async () => (await import('./commands/user.js')).tokenCommand(),
  },
  user: {
    description: 'Adds, removes and lists users with passwords',
    load: async () => (await import('./commands/user.js')).userCommand(),
  },
  template: {
    description: 'Lists, uploads, prints and compares operational templates',
    load: async () => (await import('./commands/template.js')).templateCommand(),
  },
  ehr: {
    description: 'Creates, finds, lists, prints and erases EHRs',
    load: async () => (await import('./commands/ehr.js')).ehrCommand(),
  },
  composition: {
    description: 'Commits, lists, prints, corrects and deletes COMPOSITIONs',
    load: async () => (await import('./commands/composition.js')).compositionCommand(),
  },
  query: {
    description: 'Runs AQL and prints its rows; stores queries and runs those stored',
    load: async () => (await import('./commands/query.js')).queryCommand(),
  },
  merge: {
    description: 'Finds EHRs of one person, merges them, and takes merges back',
    load: async () => (await import('./commands/merge.js')).mergeCommand(),
  },
  audit: {
    description: 'Shows who did what, and ends the retention of old records',
    load: async () => (await import('./commands/audit.js')).auditCommand(),
  },
  job: {
    description: 'Shows what goes on in the background of a server',
    load: async () => (await import('./commands/job.js')).jobCommand(),
  },
  import: {
    description: 'Imports COMPOSITIONs, CONTRIBUTIONs, EHR_STATUSes and directories',
    load: async () => (await import('./commands/import.js')).importCommand(),
  },
  export: {
    description: 'Exports EHRs, or the rows of a query, as NDJSON',
    load: async () => (await import('./commands/export.js')).exportCommand(),
  },
  migrate: {
    description: 'Moves everything that another server of ITS-REST shows into this one, as it was made',
    load: async () => (await import('./commands/migrate.js')).migrateCommand(),
  },
  compare: {
    description: 'Tells what this server and another one of ITS-REST do not say alike',
    load: async () => (await import('./commands/compare.js')).compareCommand(),
  },
  verify: {
    description: 'Checks all stored data, on the configured database, without changing it; servers may go on',
    load: async () => (await import('./commands/verify.js')).verifyCommand(),
  },
  doctor: {
    description: 'Tries a MongoDB out, in a database of its own, and says what will work on it',
    load: async () => (await import('./commands/doctor.js')).doctorCommand(),
  },
  backup: {
    description: 'Writes the whole configured database into a file; servers may go on',
    load: async () => (await import('./commands/backup.js')).backupCommand(),
  },
  restore: {
    description: 'Fills the configured database, which is empty, from such a file, or tries a file out',
    load: async () => (await import('./commands/backup.js')).restoreCommand(),
  },
  reindex: {
    description:
      'Rebuilds everything AQL reads from the stored VERSIONs, on the configured database; servers may go on',
    load: async () => (await import('./commands/stored-data.js')).reindexCommand(),
  },
  upgrade: {
    description:
      'Brings the data of older releases into the layout of this one, on the configured database; servers of this release may go on, older ones must have ended',
    load: async () => (await import('./commands/stored-data.js')).upgradeCommand(),
  },
  cat: {
    description: 'Prints the canonical JSON of a VERSION as it is stored, whoever owns it',
    load: async () => (await import('./commands/stored-data.js')).catCommand(),
  },
  codegen: {
    description: 'Writes TypeScript from templates and queries',
    load: async () => (await import('./commands/codegen.js')).codegenCommand(),
  },
  completion: {
    description: 'Prints what a shell needs to complete the words of everchart',
    load: async () => (await import('./commands/completion.js')).completionCommand(everyCommand),
  },
};

async function everyCommand(): Promise<Command[]> {
  const commands: Command[] = [];
  for (const { description, load } of Object.values(COMMANDS))
    commands.push((await load()).description(description));
  return commands;
}
