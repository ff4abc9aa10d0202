import js from '@eslint/js';
import { defineConfig } from 'eslint/config';
import tseslint from 'typescript-eslint';
import { countedTraversal } from './scripts/lint/counted.mjs';

const SYNTAX = [
  { selector: 'ExportDefaultDeclaration', message: 'Name what you export' },
  { selector: 'ExportAllDeclaration', message: 'No barrel files: import from the file that defines it' },
];

const STORED = {
  selector:
    'ObjectExpression:has(> Property[key.name="collection"]):has(> Property[key.name=/^(insert|filter|remove)$/])',
  message: 'Add a named write to the file of the collection in models/',
};

/** Sizes and rules of the house: small files, small functions, no `any`, no floating promise. */
export default defineConfig(
  {
    ignores: [
      'node_modules',
      'dist',
      'coverage',
      'data',
      'test/fixtures',
      '**/dist',
      'packages/*/src/generated',
      // Compiled by its test, with what is generated for it.
      'examples',
      'test/clients/programs',
      'tools/apps',
    ],
  },
  js.configs.recommended,
  {
    files: ['**/*.{ts,tsx}'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      'max-lines': ['error', { max: 300, skipBlankLines: true, skipComments: true }],
      'max-lines-per-function': ['error', { max: 50, skipBlankLines: true, skipComments: true }],
      'max-params': 'off',
      '@typescript-eslint/max-params': ['error', { max: 4 }],
      complexity: ['error', 12],
      'no-console': 'error',
      'no-restricted-syntax': ['error', ...SYNTAX],
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'env', message: 'Only src/settings/config.ts reads the environment' },
      ],
      '@typescript-eslint/consistent-type-imports': 'error',
      // Declaration merging: `interface DefaultState extends RequestState {}`.
      '@typescript-eslint/no-empty-object-type': ['error', { allowInterfaces: 'with-single-extends' }],
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true },
      ],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
    },
  },
  {
    // Only models/ names what is stored: the rest calls its named writes and reads (docs/decisions/0012-mongoose-and-bulk-writes.md).
    files: ['{change,merge,maintenance,query,workers,routes,src,cli}/**/*.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            {
              regex: 'models/access/layout\\.js$',
              importNames: ['COLLECTIONS'],
              message: 'Add a named read or write to the file of the collection in models/',
            },
          ],
        },
      ],
      'no-restricted-syntax': ['error', ...SYNTAX, STORED],
    },
  },
  {
    // What a record says is no command for a terminal.
    files: ['cli/**/*.ts'],
    ignores: ['cli/shown.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        ...SYNTAX,
        STORED,
        {
          selector:
            'MemberExpression[property.name="write"][object.object.name="process"][object.property.name=/^std(out|err)$/]',
          message: 'Write by writeShown of cli/shown.ts',
        },
      ],
    },
  },
  {
    // What a client decides the length of. The text of a query is bounded by itself (aql/syntax/limits.ts).
    files: [
      'aql/{evaluate,index,mongo,plan,result,semantics}/**/*.ts',
      'openehr/{format,template/validate}/**/*.ts',
      'openehr/template/validate.ts',
      'routes/http/negotiation/*.ts',
    ],
    plugins: { work: { rules: { 'counted-traversal': countedTraversal } } },
    rules: { 'work/counted-traversal': 'error' },
  },
  {
    files: ['test/**/*.ts', 'packages/*/test/**/*.ts', 'bench/**/*.ts'],
    rules: {
      'max-lines': ['error', { max: 600, skipBlankLines: true, skipComments: true }],
      'max-lines-per-function': 'off',
      'no-restricted-properties': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
    },
  },
  {
    // A function that gives rows of the table of operations is data.
    files: ['routes/{ehr,definition,query,tag,admin,system}/**/*.ts'],
    rules: { 'max-lines-per-function': ['error', { max: 85, skipBlankLines: true, skipComments: true }] },
  },
  // The one list of what a package offers.
  { files: ['packages/*/src/main.ts'], rules: { 'no-restricted-syntax': 'off' } },
  // What a component gives is a tree of data, and a setter of state gives nothing that anybody waits for.
  {
    files: ['console/**/*.{ts,tsx}'],
    rules: {
      'max-lines-per-function': ['error', { max: 75, skipBlankLines: true, skipComments: true }],
      '@typescript-eslint/no-confusing-void-expression': 'off',
      '@typescript-eslint/prefer-promise-reject-errors': 'off',
    },
  },
  {
    files: ['console/vite.config.ts'],
    rules: { 'no-restricted-syntax': 'off', 'no-restricted-properties': 'off' },
  },
  // Vite takes a plug-in by its default export, and the plug-in finds its server as clients do.
  {
    files: ['packages/codegen/src/vite.ts'],
    rules: { 'no-restricted-syntax': 'off', 'no-restricted-properties': 'off' },
  },
  // Data, one entry for each setting or message.
  { files: ['console/src/messages/{en,de}.ts'], rules: { 'max-lines': ['error', { max: 700 }] } },
  // Besides where the settings come from, the names by which a client finds its server.
  {
    files: ['src/settings/{config,env-file}.ts', 'cli/transfer/address.ts'],
    rules: { 'no-restricted-properties': 'off' },
  },
  {
    files: ['**/*.mjs', '**/*.cjs'],
    languageOptions: {
      globals: { process: 'readonly', console: 'readonly', URL: 'readonly', module: 'writable' },
    },
  },
);
