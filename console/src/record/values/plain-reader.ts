import { english } from '../../messages/english.js';
import { translator } from '../../messages/translate.js';
import type { ValueReader } from './value-reader.js';

/** Whoever reads: for orders, groups and files that are the same everywhere. */
export const PLAIN_READER: ValueReader = { language: 'en', zone: 'UTC', t: translator(english, 'en') };
