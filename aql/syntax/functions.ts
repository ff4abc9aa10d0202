type ArgumentDomain = 'text' | 'number';

/** What a function takes and gives; `optional` arguments follow those of `args`, of `more` any number may follow. */
interface FunctionShape {
  readonly args: readonly ArgumentDomain[];
  readonly optional?: readonly ArgumentDomain[];
  readonly more?: ArgumentDomain;
  readonly gives: 'text' | 'number' | 'boolean';
}

/**
 * Every function that gives a value in each row, and nowhere else (docs/spec/aql.md#functions): parser, checks, completion
 * and colours read this table; the pipeline (`mongo/value`) and the evaluator (`evaluate`) must have a body for each row.
 * The functions without arguments tell the present time as a text in ISO 8601 form.
 */
const FUNCTIONS = {
  LENGTH: { args: ['text'], gives: 'number' },
  CONTAINS: { args: ['text', 'text'], gives: 'boolean' },
  POSITION: { args: ['text', 'text'], gives: 'number' },
  SUBSTRING: { args: ['text', 'number'], optional: ['number'], gives: 'text' },
  CONCAT: { args: ['text'], more: 'text', gives: 'text' },
  CONCAT_WS: { args: ['text', 'text'], more: 'text', gives: 'text' },
  ABS: { args: ['number'], gives: 'number' },
  MOD: { args: ['number', 'number'], gives: 'number' },
  CEIL: { args: ['number'], gives: 'number' },
  FLOOR: { args: ['number'], gives: 'number' },
  ROUND: { args: ['number'], optional: ['number'], gives: 'number' },
  CURRENT_DATE: { args: [], gives: 'text' },
  CURRENT_TIME: { args: [], gives: 'text' },
  CURRENT_DATE_TIME: { args: [], gives: 'text' },
  NOW: { args: [], gives: 'text' },
  CURRENT_TIMEZONE: { args: [], gives: 'text' },
} as const satisfies Readonly<Record<string, FunctionShape>>;

type Functions = typeof FUNCTIONS;
export type FunctionName = keyof Functions;
/** Functions that give the same text in every row. */
export type PresentTimeName = {
  [N in FunctionName]: Functions[N]['args'] extends readonly [] ? N : never;
}[FunctionName];

/** What stands for a text, and for a number. */
type ArgumentTypes = Readonly<Record<ArgumentDomain, unknown>>;
type ValuesOf<Domains extends readonly ArgumentDomain[], Types extends ArgumentTypes> = {
  [Index in keyof Domains]: Types[Domains[Index] & ArgumentDomain];
};
type OptionalOf<N extends FunctionName> = Functions[N] extends {
  readonly optional: infer Optional extends readonly ArgumentDomain[];
}
  ? Optional
  : [];
type MoreOf<N extends FunctionName> = Functions[N] extends {
  readonly more: infer More extends ArgumentDomain;
}
  ? More[]
  : [];
/** The arguments of a function as its row of the table has them. */
type ArgumentsOf<N extends FunctionName, Types extends ArgumentTypes> = [
  ...ValuesOf<Functions[N]['args'], Types>,
  ...Partial<ValuesOf<OptionalOf<N>, Types>>,
  ...ValuesOf<MoreOf<N>, Types>,
];
/**
 * What every function that depends on the row gives, all its arguments being there: a table that lacks one, or takes other
 * arguments than its row says, does not compile. CONCAT_WS is left out, which may lack some.
 */
export type FunctionBodies<Types extends ArgumentTypes, Result> = {
  readonly [N in Exclude<FunctionName, PresentTimeName | 'CONCAT_WS'>]: (
    ...args: ArgumentsOf<N, Types>
  ) => Result;
};

/** Their names, in the order of the table. */
export const FUNCTION_NAMES: readonly string[] = Object.keys(FUNCTIONS);

/** Whether an upper-cased word is the name of a function. */
export function isFunctionName(word: string): word is FunctionName {
  return Object.hasOwn(FUNCTIONS, word);
}

/** Whether a function gives the same text in every row: the present time. */
export function isPresentTime(name: FunctionName): name is PresentTimeName {
  return FUNCTIONS[name].args.length === 0;
}

/** Fewest and most arguments of a function; Infinity where the last ones may be any number. */
export function functionArity(name: FunctionName): readonly [number, number] {
  const { args, optional = [], more }: FunctionShape = FUNCTIONS[name];
  return [args.length, more === undefined ? args.length + optional.length : Infinity];
}

/** Domain that an argument of a function must have. */
export function argumentDomain(name: FunctionName, index: number): 'text' | 'number' {
  const { args, optional = [], more }: FunctionShape = FUNCTIONS[name];
  return [...args, ...optional][index] ?? more ?? 'text';
}

/** Domain of what a function gives. */
export function functionDomain(name: FunctionName): FunctionShape['gives'] {
  return FUNCTIONS[name].gives;
}
