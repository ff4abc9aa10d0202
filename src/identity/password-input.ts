import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';

/**
 * The password that a person types twice, unseen, or that standard input holds.
 * @throws Error when the two differ
 */
export async function givenPassword(fromStdin: boolean): Promise<string> {
  if (fromStdin || !process.stdin.isTTY) return (await text(process.stdin)).replace(/\r?\n$/, '');
  const [first, second] = await askUnseen(['Password: ', 'Again: ']);
  if (first !== second) throw new Error('the two passwords differ');
  return first ?? '';
}

async function askUnseen(questions: readonly string[]): Promise<string[]> {
  // What is typed goes to this output; nothing of it is shown.
  const nowhere = new Writable({
    write: (_chunk, _encoding, done) => {
      done();
    },
  });
  const lines = createInterface({ input: process.stdin, output: nowhere, terminal: true });
  try {
    const answers: string[] = [];
    for (const question of questions) {
      process.stderr.write(question);
      answers.push(await lines.question(''));
      process.stderr.write('\n');
    }
    return answers;
  } finally {
    lines.close();
  }
}
