import { expect, it } from '@jest/globals';
import { sharedRead } from '../../../models/access/documents.js';

/** A read that is answered when the test says so. */
function heldRead(): {
  read: (id: string) => Promise<string>;
  sent: string[];
  end: (error?: Error) => Promise<void>;
} {
  const sent: string[] = [];
  const waiting: ((error?: Error) => void)[] = [];
  const read = (id: string): Promise<string> => {
    sent.push(id);
    const text = `${id} ${sent.length}`;
    return new Promise((resolve, reject) => {
      waiting.push((error) => {
        if (error === undefined) resolve(text);
        else reject(error);
      });
    });
  };
  const end = async (error?: Error): Promise<void> => {
    waiting.shift()?.(error);
    await new Promise(setImmediate);
  };
  return { read, sent, end };
}

it('answers each question by a read that was sent after it came, and those that came meanwhile by one', async () => {
  const { read, sent, end } = heldRead();
  const ask = sharedRead(read);
  const first = ask('a');
  await new Promise(setImmediate);
  const others = [ask('a'), ask('a'), ask('a')];
  const another = ask('b');
  await new Promise(setImmediate);
  expect(sent).toEqual(['a', 'b']);
  await end();
  expect(await first).toBe('a 1');
  expect(sent).toEqual(['a', 'b', 'a']);
  const late = ask('a');
  await end();
  expect(await another).toBe('b 2');
  await end();
  expect(await Promise.all(others)).toEqual(['a 3', 'a 3', 'a 3']);
  expect(sent).toHaveLength(4);
  await end();
  expect(await late).toBe('a 4');
  const alone = ask('a');
  await new Promise(setImmediate);
  await end();
  expect(await alone).toBe('a 5');
});

it('lets nobody wait once more for what failed, and asks anew afterwards', async () => {
  const { read, sent, end } = heldRead();
  const ask = sharedRead(read);
  const first = ask('a');
  await new Promise(setImmediate);
  const second = ask('a');
  const away = new Error('away');
  const failures = Promise.allSettled([first, second]);
  await end(away);
  expect(await failures).toEqual([
    { status: 'rejected', reason: away },
    { status: 'rejected', reason: away },
  ]);
  expect(sent).toEqual(['a']);
  const third = ask('a');
  await new Promise(setImmediate);
  await end();
  expect(await third).toBe('a 2');
});
