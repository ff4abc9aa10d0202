/** Ends a command with exit code 1 after it has said itself what went wrong. */
export class CommandFailed extends Error {}
