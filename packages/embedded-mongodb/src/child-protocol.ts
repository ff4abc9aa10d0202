/** Messages between the embedded database's process and its parent. */
import type { FrontLimits } from './front/limits.js';

/** Argument of the child. */
export interface ChildOptions {
  /** Folder of the data; null: a temporary one, removed at the end. */
  readonly dir: string | null;
  /** Null: a UNIX socket that only this user can open; 0: any free port of 127.0.0.1, with a password. */
  readonly port: number | null;
  /** Memory for the data, in GiB. */
  readonly cacheSizeGB: number;
  readonly limits: FrontLimits;
}

/** A child that serves. */
export interface ChildReady {
  readonly ready: true;
  /** Connection string without a password. */
  readonly uri: string;
  /** File of this user alone that holds the connection string with the password, where there is one. */
  readonly uriFile: string;
  /** What clients connect to: the path of the socket or `host:port`. */
  readonly address: string;
  readonly port: number | null;
  /** Version of the engine. */
  readonly version: string;
  readonly dir: string;
  readonly pid: number;
  /** Undo records put back after a crash. */
  readonly recovered: number;
  /** Time from the child's first line to this report. */
  readonly ms: number;
}

/** A child that could not start. */
export interface ChildFailed {
  readonly ready: false;
  /** The native package cannot be had on this machine; anything else is a failure of the data or the port. */
  readonly isUnavailable: boolean;
  readonly reason: string;
}

/** The one line on the child's stdout. */
export type ChildReport = ChildReady | ChildFailed;
