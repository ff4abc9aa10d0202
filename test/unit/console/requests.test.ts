import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';

const SOURCES = new URL('../../../console/src/', import.meta.url);

describe('the sources of the console', () => {
  it('ask the server by the client alone', () => {
    const asking = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.tsx?$/.test(name))
      .filter((name) => {
        const source = readFileSync(new URL(name, SOURCES), 'utf8');
        return /\bfetch\(|XMLHttpRequest|EventSource|sendBeacon|new WebSocket/.test(source);
      });
    expect(asking).toEqual(['api/connection.ts']);
  });
});
