import { InvalidArgumentError } from 'commander';
import { parseVersionAtTime } from '../../openehr/base/iso8601.js';

/** Reads a time of an option, without a zone in UTC. @throws InvalidArgumentError */
export function timeOption(text: string): Date {
  try {
    return parseVersionAtTime(text, 'UTC');
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? error.message : 'It is no time.');
  }
}
