import {
  CompletionItemKind,
  DiagnosticSeverity,
  ProposedFeatures,
  TextDocumentSyncKind,
  TextDocuments,
  createConnection,
  type CompletionItem,
  type Connection,
} from 'vscode-languageserver/node';
import { TextDocument } from 'vscode-languageserver-textdocument';
import {
  Catalogue,
  CdrError,
  completions,
  diagnose,
  formatAql,
  hoverAt,
  type Completion,
  type Diagnostic,
} from '../../aql/src/main.js';

export { Catalogue } from '../../aql/src/main.js';

/** Who serves, as the editor's log and the source of a diagnostic name it, and with which templates. */
export interface AqlServer {
  readonly name: string;
  readonly version: string;
  readonly catalogue: Promise<Catalogue>;
}

/** The language server protocol over stdin and stdout. Ends with the process, when the editor says `exit` or goes away. */
export function serveAql({ name, version, catalogue: templates }: AqlServer): Promise<never> {
  const connection = createConnection(ProposedFeatures.all, process.stdin, process.stdout);
  const documents = new TextDocuments(TextDocument);
  const catalogue = orWithoutTemplates(connection, templates);
  connection.onInitialize(() => ({
    serverInfo: { name, version },
    capabilities: {
      textDocumentSync: TextDocumentSyncKind.Incremental,
      completionProvider: { triggerCharacters: ['/', '[', ' ', "'"] },
      hoverProvider: true,
      documentFormattingProvider: true,
    },
  }));
  documents.onDidChangeContent(async ({ document }) => {
    const { uri, version: revision } = document;
    const found = diagnose(document.getText(), await catalogue);
    const diagnostics = found.map((each) => ({ source: name, ...ofProtocol(each) }));
    await connection.sendDiagnostics({ uri, version: revision, diagnostics });
  });
  documents.onDidClose(({ document: { uri } }) => void connection.sendDiagnostics({ uri, diagnostics: [] }));
  connection.onCompletion(async ({ textDocument, position }) => {
    const document = documents.get(textDocument.uri);
    if (document === undefined) return [];
    const found = completions(document.getText(), document.offsetAt(position), await catalogue);
    return found.map((each) => completionItem(each, document));
  });
  connection.onHover(async ({ textDocument, position }) => {
    const document = documents.get(textDocument.uri);
    const hover = document && hoverAt(document.getText(), document.offsetAt(position), await catalogue);
    if (document === undefined || !hover) return null;
    return {
      contents: { kind: 'markdown', value: hover.text },
      range: { start: document.positionAt(hover.from), end: document.positionAt(hover.to) },
    };
  });
  connection.onDocumentFormatting(({ textDocument }) => edits(documents.get(textDocument.uri)));
  documents.listen(connection);
  connection.listen();
  return new Promise<never>(() => undefined);
}

/** The editor works without templates too: one warning says what could not be read. */
async function orWithoutTemplates(connection: Connection, catalogue: Promise<Catalogue>): Promise<Catalogue> {
  try {
    return await catalogue;
  } catch (error) {
    connection.console.warn(`no templates: ${error instanceof Error ? error.message : String(error)}`);
    return new Catalogue();
  }
}

function ofProtocol({ severity, code, message, line, column, endLine, endColumn }: Diagnostic) {
  return {
    severity: severity === 'error' ? DiagnosticSeverity.Error : DiagnosticSeverity.Warning,
    code,
    message,
    range: {
      start: { line: line - 1, character: column - 1 },
      end: { line: endLine - 1, character: endColumn - 1 },
    },
  };
}

const KINDS: Readonly<Record<Completion['kind'], CompletionItemKind>> = {
  keyword: CompletionItemKind.Keyword,
  class: CompletionItemKind.Class,
  variable: CompletionItemKind.Variable,
  attribute: CompletionItemKind.Property,
  path: CompletionItemKind.Field,
  archetype: CompletionItemKind.Module,
  code: CompletionItemKind.EnumMember,
  function: CompletionItemKind.Function,
  value: CompletionItemKind.Value,
};

function completionItem(
  { label, kind, term, detail: what, documentation, insert, from, to }: Completion,
  document: TextDocument,
): CompletionItem {
  const range = { start: document.positionAt(from), end: document.positionAt(to) };
  const detail = term === '' ? what : `${term} (${what})`;
  return { label, kind: KINDS[kind], detail, documentation, textEdit: { range, newText: insert } };
}

/** No edit of a text that cannot be read: its diagnostics say why. */
function edits(document: TextDocument | undefined) {
  if (document === undefined) return [];
  const text = document.getText();
  try {
    const range = { start: document.positionAt(0), end: document.positionAt(text.length) };
    return [{ range, newText: `${formatAql(text)}\n` }];
  } catch (error) {
    if (error instanceof CdrError) return [];
    throw error;
  }
}
