import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const LIBRARIES = ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'];

/** What the compiler says of some files and of what they import, as strictly as it can, and with more `options` where they are given: a line for each finding. */
export function compilerFindings(files: readonly string[], options: ts.CompilerOptions = {}): string[] {
  const program = ts.createProgram(files, {
    strict: true,
    noUncheckedIndexedAccess: true,
    noEmit: true,
    skipLibCheck: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    lib: LIBRARIES,
    types: ['node'],
    typeRoots: [fileURLToPath(new URL('../../node_modules/@types', import.meta.url))],
    ...options,
  });
  return ts.getPreEmitDiagnostics(program).map(({ messageText, file, start }) => {
    const at = file?.getLineAndCharacterOfPosition(start ?? 0);
    const text = ts.flattenDiagnosticMessageText(messageText, ' ');
    return `${file?.fileName.split('/').at(-1) ?? ''}:${(at?.line ?? 0) + 1} ${text.slice(0, 600)}`;
  });
}
