import { describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import { repositoryTexts, textOf } from './repository-text.js';

/** docs/spec/database.md#what-is-asked-of-it names all that the code asks of MongoDB, and where: nothing is missing there, and nothing is left. */

const page = (name: string): string => textOf(`docs/spec/${name}.md`);
const PAGE = page('database');
const ROOMS = /^(?:aql|change|database|maintenance|merge|models|query|src|workers)\//;
/** Without comments. */
const SOURCES = repositoryTexts()
  .filter(({ path }) => ROOMS.test(path) && path.endsWith('.ts'))
  .map(({ path, text }) => ({ path, text: text.replaceAll(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*/g, '') }));

/** Fields of documents, and variables, in expressions: `$data`. */
const FIELDS = [
  ...['$certain', '$cursor', '$data', '$ehr', '$expires', '$holder', '$kind', '$length', '$row'],
  ...['$servers', '$subject', '$version', '$vo', '$wanted'],
];
/** Methods of the driver that send nothing by themselves, or by another method. */
const NOT_SENT = ['admin', 'close', 'collection', 'command', 'connect', 'db', 'on', 'off', 'once', 'withSession'];
const OPTIONS = [
  ...['allowDiskUse', 'batchSize', 'collation', 'comment', 'expireAfterSeconds', 'hint', 'maxTimeMS', 'ordered'],
  ...['partialFilterExpression', 'readConcern', 'readPreference', 'returnDocument', 'storageEngine', 'unique'],
  ...['arrayFilters', 'upsert', 'writeConcern', 'noCursorTimeout', 'sparse', 'tailable', 'validator'],
];

interface Use {
  readonly name: string;
  readonly path: string;
}

/** Uses that a pattern finds, by its first group that is there; each name once in each file. */
function usesOf(pattern: RegExp, isMeant: (use: Use) => boolean): Use[] {
  return SOURCES.flatMap(({ path, text }) => {
    const names = new Set([...text.matchAll(pattern)].map((found) => found.slice(1).find(Boolean) ?? ''));
    return [...names].map((name) => ({ name, path })).filter(isMeant);
  });
}

/** `{ $set: …`, `call('$set', …)`; also the first part of a path. */
const operators = usesOf(
  /(?<![\w$'`])(\$[a-zA-Z]+)(?=\s*[:,}\]])|['`](\${1,2}[a-zA-Z]+)['`]/g,
  ({ name }) => !FIELDS.includes(name) && !name.startsWith('$$') ,
);
const variables = usesOf(/['`](\$\$[A-Z]+)\b/g, () => true);
const { Admin, ClientSession, Collection, Db, MongoClient } = mongoose.mongo;
const METHODS = new Set(
  [Admin, ClientSession, Collection, Db, MongoClient]
    .flatMap(({ prototype }) => Object.getOwnPropertyNames(prototype))
    .concat(Object.getOwnPropertyNames(mongoose.Model))
    .filter((name) => !NOT_SENT.includes(name)),
);
const isOfDatabase = (path: string): boolean => /^(?:models|database)\//.test(path);
const methods = usesOf(
  /\.(\w+)(?:<[^()]*>)?\(/g,
  ({ name, path }) =>
    METHODS.has(name) && isOfDatabase(path) && /from '(?:mongo(?:ose|db)|.*\/documents\.js)'/.test(textOf(path)),
);
const commands = usesOf(/\bcommand\(\{ (\w+)/g, ({ path }) => isOfDatabase(path));
const options = usesOf(
  new RegExp(`\\b(${OPTIONS.join('|')})\\s?:`, 'g'),
  ({ path }) => isOfDatabase(path) || path.startsWith('maintenance/'),
);
const used = [...operators, ...variables, ...methods, ...commands, ...options];

/** Rows of the tables of the section: names, and where they are used. */
const [, SECTION = ''] = PAGE.split('\n## What is asked of it\n');
const rows = SECTION.split('\n## ')[0]!
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) => line.split('|'))
  .map(([, names = '', where = '']) => ({ names: quoted(names), places: quoted(where) }));

function quoted(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word);
}

const isAt = (path: string, place: string): boolean => path === place || path.startsWith(`${place}/`);

describe('what the page on the database says is asked of MongoDB', () => {
  it('is all that the code asks, where it asks it', () => {
    expect(used.length).toBeGreaterThan(200);
    const missing = used.filter(
      ({ name, path }) =>
        !rows.some(({ names, places }) => names.includes(name) && places.some((place) => isAt(path, place))),
    );
    expect(missing).toEqual([]);
  });

  it('is asked, somewhere in each place that is named', () => {
    const left = rows.flatMap(({ names, places }) => [
      ...names
        .filter((name) => !used.some((use) => use.name === name && places.some((place) => isAt(use.path, place))))
        .map((name) => `${name} is nowhere in ${places.join()}`),
      ...places
        .filter((place) => !used.some((use) => names.includes(use.name) && isAt(use.path, place)))
        .map((place) => `${place} has none of ${names.join()}`),
    ]);
    expect(left).toEqual([]);
  });

  it('needs no field of a document that is not there any more', () => {
    const all = SOURCES.map(({ text }) => text).join('\n');
    expect(FIELDS.filter((field) => !all.includes(field))).toEqual([]);
  });
});

it('the files that the page on the database names are there', () => {
  const named = quoted(PAGE).filter((word) => /^[\w-]+\/[\w./-]+$/.test(word));
  const there = new Set(repositoryTexts().map(({ path }) => path));
  const isThere = (word: string): boolean => there.has(word) || [...there].some((path) => path.startsWith(`${word}/`));
  expect(named.filter((word) => !isThere(word))).toEqual([]);
});

/** A claim that something was run there; nobody has. */
const CLAIM = /(?:tested|run|measured|verified)\s+(?:on|with|against|in)\s+(?:an?\s+|the\s+)?(?:real\s+)?(?:replica set|sharded|MongoDB|Atlas|mongod\b)/gi;
/** Words before it that say the contrary. */
const DENIAL = /\b(?:no|not|never|neither|nothing|none|nobody)\b[^.|]*$/i;

it('no page claims a test on a replica set or a MongoDB of its makers, which nobody has run', () => {
  const claims = repositoryTexts()
    .filter(({ path }) => path.endsWith('.md') && !path.startsWith('docs/decisions/'))
    .flatMap(({ path, text }) =>
      [...text.matchAll(CLAIM)]
        .filter(({ index }) => !DENIAL.test(text.slice(Math.max(0, index - 200), index)))
        .map(([words]) => `${path}: ${words}`),
    );
  expect(claims).toEqual([]);
});
