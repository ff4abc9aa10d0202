import { Command } from 'commander';
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
} from '../../packages/aql/src/main.js';
import { PRODUCT, PRODUCT_VERSION } from '../../routes/system/product.js';
import { withTargetOptions } from '../transfer/target.js';
import { readCatalogue, type CatalogueOptions } from '../transfer/template-catalogue.js';

/** `everchart aql-lsp`: AQL in editors, over the language server protocol. */
export function aqlLspCommand(): Command {
  const command = new Command('aql-lsp')
    .description('A language server of AQL over stdin and stdout: completion, hover, diagnostics, formatting')
    .option('--templates <paths...>', 'OPT files or folders of them; without, all templates of the server')
    .option('--stdio', 'what editors say; it is always so')
    .action((options: CatalogueOptions) => serve(options));
  return withTargetOptions(command);
}

/** Ends with the process, when the editor says `exit` or goes away. */
function serve(options: CatalogueOptions): Promise<never> {
  const connection = createConnection(ProposedFeatures.all, process.stdin, process.stdout);
  const documents = new TextDocuments(TextDocument);
  const catalogue = catalogueFor(connection, options);
  connection.onInitialize(() => ({
    serverInfo: { name: PRODUCT, version: PRODUCT_VERSION },
    capabilities: {
      textDocumentSync: TextDocumentSyncKind.Incremental,
      completionProvider: { triggerCharacters: ['/', '[', ' ', "'"] },
      hoverProvider: true,
      documentFormattingProvider: true,
    },
  }));
  documents.onDidChangeContent(({ document }) => void tell(connection, document, catalogue));
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

/** The editor works without templates too: what could not be read is told once. */
async function catalogueFor(connection: Connection, options: CatalogueOptions): Promise<Catalogue> {
  try {
    return await readCatalogue(options);
  } catch (error) {
    connection.console.warn(`no templates: ${error instanceof Error ? error.message : String(error)}`);
    return new Catalogue();
  }
}

async function tell(
  connection: Connection,
  document: TextDocument,
  catalogue: Promise<Catalogue>,
): Promise<void> {
  const { uri, version } = document;
  const diagnostics = diagnose(document.getText(), await catalogue).map(ofProtocol);
  await connection.sendDiagnostics({ uri, version, diagnostics });
}

function ofProtocol({ severity, code, message, line, column, endLine, endColumn }: Diagnostic) {
  return {
    severity: severity === 'error' ? DiagnosticSeverity.Error : DiagnosticSeverity.Warning,
    code,
    message,
    source: PRODUCT,
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
  { label, kind, detail, documentation, insert, from, to }: Completion,
  document: TextDocument,
): CompletionItem {
  const range = { start: document.positionAt(from), end: document.positionAt(to) };
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
