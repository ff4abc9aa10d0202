import { spawn, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from '@jest/globals';

const TEMPLATES = fileURLToPath(new URL('../../../../test/fixtures/openehr/opt/', import.meta.url));
const BP = 'openEHR-EHR-OBSERVATION.sample_blood_pressure.v1';
const TEXT = `select o/data[at0001]/events[at0099]/time\nfrom EHR e contains OBSERVATION o[${BP}]\n`;
const textDocument = { uri: 'file:///query.aql' };

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly result?: unknown;
  readonly params?: unknown;
}

/** Speaks the language server protocol with a process. */
class Editor {
  private buffer = Buffer.alloc(0);
  private readonly waiting = new Map<number | string, (message: Message) => void>();
  private ids = 0;

  constructor(private readonly child: ChildProcess) {
    child.stdout!.on('data', (chunk: Buffer) => {
      this.buffer = Buffer.concat([this.buffer, chunk]);
      for (;;) {
        const [head, length] =
          /^Content-Length: (\d+)\r\n(?:[^\r]+\r\n)*\r\n/.exec(this.buffer.toString('latin1')) ?? [];
        if (head === undefined || this.buffer.length < head.length + Number(length)) return;
        const body = this.buffer.subarray(head.length, head.length + Number(length));
        this.buffer = this.buffer.subarray(head.length + Number(length));
        const message = JSON.parse(body.toString()) as Message;
        this.waiting.get(message.id ?? message.method ?? '')?.(message);
      }
    });
  }

  notify(method: string, params: unknown, id?: number): void {
    const body = JSON.stringify({ jsonrpc: '2.0', method, params, ...(id !== undefined && { id }) });
    this.child.stdin!.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  }

  async request(method: string, params: unknown): Promise<unknown> {
    const id = ++this.ids;
    const answer = new Promise<Message>((resolve) => this.waiting.set(id, resolve));
    this.notify(method, params, id);
    return (await answer).result;
  }

  async next(method: string): Promise<unknown> {
    return (await new Promise<Message>((resolve) => this.waiting.set(method, resolve))).params;
  }
}

let child: ChildProcess;
let editor: Editor;

beforeAll(() => {
  const program = fileURLToPath(new URL('../../bin/everchart-aql-lsp.mjs', import.meta.url));
  child = spawn(process.execPath, [program, '--stdio', '--templates', TEMPLATES], {
    env: { ...process.env, NODE_OPTIONS: '' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  editor = new Editor(child);
});
afterAll(() => void child.kill());

it('speaks the language server protocol: diagnostics, completion, hover, formatting, exit', async () => {
  expect(
    await editor.request('initialize', { processId: null, rootUri: null, capabilities: {} }),
  ).toMatchObject({
    serverInfo: { name: 'everchart-aql-lsp' },
    capabilities: { hoverProvider: true, documentFormattingProvider: true },
  });
  editor.notify('initialized', {});
  const published = editor.next('textDocument/publishDiagnostics');
  editor.notify('textDocument/didOpen', {
    textDocument: { ...textDocument, languageId: 'aql', version: 1, text: TEXT },
  });
  expect(await published).toMatchObject({
    ...textDocument,
    diagnostics: [
      {
        severity: 2,
        code: 'unknown_node',
        range: { start: { line: 0, character: 29 }, end: { line: 0, character: 35 } },
      },
    ],
  });
  const items = await editor.request('textDocument/completion', {
    textDocument,
    position: { line: 0, character: 29 },
  });
  expect(items).toEqual(expect.arrayContaining([expect.objectContaining({ label: 'at0002' })]));
  const inFrom = await editor.request('textDocument/completion', {
    textDocument,
    position: { line: 1, character: TEXT.split('\n')[1]!.indexOf('[') + 1 },
  });
  expect(inFrom).toEqual(expect.arrayContaining([expect.objectContaining({ label: BP })]));
  expect(
    await editor.request('textDocument/hover', { textDocument, position: { line: 1, character: 40 } }),
  ).toMatchObject({ contents: { kind: 'markdown', value: expect.stringContaining(BP) } });
  expect(
    await editor.request('textDocument/formatting', {
      textDocument,
      options: { tabSize: 2, insertSpaces: true },
    }),
  ).toEqual([
    expect.objectContaining({
      newText: `SELECT o/data[at0001]/events[at0099]/time\nFROM EHR e CONTAINS OBSERVATION o[${BP}]\n`,
    }),
  ]);
  const changed = editor.next('textDocument/publishDiagnostics');
  editor.notify('textDocument/didChange', {
    textDocument: { ...textDocument, version: 2 },
    contentChanges: [{ text: 'SELECT e FROM' }],
  });
  expect(await changed).toMatchObject({ version: 2, diagnostics: [{ severity: 1, code: 'invalid' }] });
  await editor.request('shutdown', null);
  const ended = new Promise((resolve) => child.once('exit', resolve));
  editor.notify('exit', null);
  expect(await ended).toBe(0);
});
