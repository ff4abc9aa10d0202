import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { needsNetwork } from '../../../scripts/pages/site-offline.js';

const INDEX = 'assets/@localSearchIndexroot.js';
let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'everchart-site-'));
  mkdirSync(join(folder, 'assets'));
  writeFileSync(join(folder, INDEX), '');
  const page = '<link href="./style.css"><img src="data:,"><a href="https://openehr.org">openEHR</a>';
  writeFileSync(join(folder, 'index.html'), page);
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

it('a site whose pages bring all that they show needs no network', () => {
  expect(needsNetwork(folder)).toEqual([]);
});

it.each([
  ['page.html', '<script defer src="https://cdn.example/a.js"></script>'],
  ['page.html', '<link rel="stylesheet" href="//fonts.example/a.css">'],
  ['page.html', '<img alt="" src="http://badges.example/a.svg">'],
  ['assets/style.css', "@font-face { src: url('https://fonts.example/a.woff2') }"],
  ['assets/style.css', '@import "https://fonts.example/a.css";'],
])('one that asks another machine does: %s %s', (name, text) => {
  writeFileSync(join(folder, name), text);
  expect(needsNetwork(folder)).toEqual([expect.stringContaining(name)]);
});

it('one without the words of its pages cannot be searched', () => {
  rmSync(join(folder, INDEX));
  expect(needsNetwork(folder)).toEqual(['it has no words to search']);
});
