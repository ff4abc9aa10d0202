import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { judged, watchOthers } from '../../../scripts/stranger/pace.js';

it('what is too slow is an error unless others kept the machine busy, or nobody tells', () => {
  expect(() => judged('the demo', { seconds: 61, others: 0.1 }, 60)).toThrow(
    'the demo: 61.00 s of at most 60',
  );
  expect(judged('the demo', { seconds: 61, others: 0.7 }, 60)).toContain('while others took 70 %');
  expect(judged('the demo', { seconds: 61, others: NaN }, 60)).toBe('the demo: 61.00 s of at most 60');
  expect(judged('the demo', { seconds: 59, others: 0 }, 60)).toContain('59.00 s');
});

const isTold = existsSync('/proc/stat');
(isTold ? it : it.skip)('work of another process is seen', async () => {
  const loop = spawn(process.execPath, ['-e', 'while (true);'], { stdio: 'ignore' });
  const ended = once(loop, 'close');
  try {
    const others = watchOthers();
    await pause(500);
    expect(others()).toBeGreaterThan(0.2);
  } finally {
    loop.kill('SIGKILL');
    await ended;
  }
});
