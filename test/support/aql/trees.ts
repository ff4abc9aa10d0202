import fc from 'fast-check';
import type {
  ClassExpression,
  ColumnExpression,
  Condition,
  FromExpression,
  FunctionCall,
  IdentifiedPath,
  Literal,
  MatchSet,
  NodeId,
  ObjectPath,
  Parameter,
  PathStep,
  Position,
  Predicate,
  PredicateCondition,
  ParsedQuery,
  Placeholder,
  Unbound,
  StringLiteral,
  TermCode,
  TerminologyCall,
  ValueExpression,
} from '../../../aql/syntax/ast.js';

const at: Position = { line: 1, column: 1 };
const word = fc.constantFrom('a', 'cComp', 'obs1', 'X_y', 'id7');
const attribute = fc.constantFrom(
  'name',
  'value',
  'data',
  'items',
  'position',
  'min',
  '_type',
  'contains',
  'order',
);
const className = fc.constantFrom('EHR', 'COMPOSITION', 'OBSERVATION', 'CLUSTER', 'ELEMENT');

const string: fc.Arbitrary<StringLiteral> = fc
  .oneof(
    fc.string({ maxLength: 8, unit: 'binary' }),
    fc.constantFrom("it's", 'a\\*b', '"', '\\', 'ä😀\n', '--', '\ud800'),
  )
  .map((value) => ({ kind: 'string' as const, value, at }));
const integer = fc.integer().map((value) => ({ kind: 'integer' as const, value, at }));
const real = fc
  .double({ noNaN: true, noDefaultInfinity: true })
  .map((value) => ({ kind: 'real' as const, value: value === 0 ? 0 : value, at }));
const literal: fc.Arbitrary<Literal> = fc.oneof(
  string,
  integer,
  real,
  fc.boolean().map((value) => ({ kind: 'boolean' as const, value, at })),
  fc.constant({ kind: 'null' as const, at }),
);
const parameter: fc.Arbitrary<Parameter> = word.map((name) => ({ kind: 'parameter' as const, name, at }));
const textOrParameter = fc.oneof(string, parameter);
const nodeCode: fc.Arbitrary<NodeId> = fc
  .constantFrom('at0004', 'at0.1.12', 'id5')
  .map((value) => ({ kind: 'node-id' as const, value, isArchetypeId: false, at }));
const archetypeId: fc.Arbitrary<NodeId> = fc
  .constantFrom(
    'openEHR-EHR-OBSERVATION.blood_pressure.v2',
    'openEHR-EHR-CLUSTER.a-b.v1.0.3',
    'org.x::openEHR-EHR-CLUSTER.a.v0',
  )
  .map((value) => ({ kind: 'node-id' as const, value, isArchetypeId: true, at }));
const termCode: fc.Arbitrary<TermCode> = fc.record({
  kind: fc.constant('term-code' as const),
  terminology: fc.constantFrom('local', 'snomed_ct', 'ISO_639-1'),
  version: fc.option(fc.constantFrom('3.1', '2020')),
  code: fc.constantFrom('123', 'F60.1', 'en'),
  text: fc.option(fc.constantFrom('note', 'two words, here')),
  at: fc.constant(at),
});
const operator = fc.constantFrom('=', '!=', '<', '<=', '>', '>=');

interface Parts {
  step: PathStep<Placeholder>;
  objectPath: ObjectPath<Placeholder>;
  predicate: Predicate<Placeholder>;
  path: IdentifiedPath<Placeholder>;
  call: FunctionCall<Unbound>;
  value: ValueExpression<Unbound>;
  condition: Condition<Unbound>;
  from: FromExpression<Placeholder>;
}

const terminology: fc.Arbitrary<TerminologyCall> = fc
  .tuple(textOrParameter, textOrParameter, textOrParameter)
  .map((args) => ({ kind: 'terminology' as const, args, at }));

const parts = fc.letrec<Parts>((tie: fc.LetrecTypedTie<Parts>): fc.LetrecValue<Parts> => {
  const aStep: fc.Arbitrary<PathStep<Placeholder>> = tie('step');
  const anObjectPath: fc.Arbitrary<ObjectPath<Placeholder>> = tie('objectPath');
  const aPredicate: fc.Arbitrary<Predicate<Placeholder>> = tie('predicate');
  const aPath: fc.Arbitrary<IdentifiedPath<Placeholder>> = tie('path');
  const aCall: fc.Arbitrary<FunctionCall<Unbound>> = tie('call');
  const aValue: fc.Arbitrary<ValueExpression<Unbound>> = tie('value');
  const aCondition: fc.Arbitrary<Condition<Unbound>> = tie('condition');
  const aFrom: fc.Arbitrary<FromExpression<Placeholder>> = tie('from');
  const optionalPredicate = fc.option(aPredicate, { freq: 1, maxDepth: 2 });
  const some = <T>(arbitrary: fc.Arbitrary<T>, minLength: number): fc.Arbitrary<T[]> =>
    fc.array(arbitrary, { minLength, maxLength: Math.max(2, minLength) });
  const node: fc.Arbitrary<PredicateCondition<Placeholder>> = fc.oneof(
    fc.record({
      kind: fc.constant('node' as const),
      id: fc.oneof(nodeCode, archetypeId),
      name: fc.option(fc.oneof(string, parameter, termCode, nodeCode)),
      at: fc.constant(at),
    }),
    parameter.map((each) => ({ kind: 'node-parameter' as const, parameter: each, at })),
  );
  const condition: fc.Arbitrary<PredicateCondition<Placeholder>> = fc.oneof(
    fc.record({
      kind: fc.constant('predicate-comparison' as const),
      path: anObjectPath,
      operator,
      operand: fc.oneof(literal, parameter, nodeCode, anObjectPath),
      at: fc.constant(at),
    }),
    fc.record({
      kind: fc.constant('predicate-regex' as const),
      path: anObjectPath,
      pattern: fc.constantFrom('a.*', '^L{2}$', 'a\\/b', '[{}]'),
      assumed: fc.option(fc.constantFrom('x', "it's")),
      at: fc.constant(at),
    }),
  );
  const group = fc
    .tuple(fc.oneof(node, condition), fc.array(condition, { maxLength: 2 }))
    .map(([first, others]) => [first, ...others]);
  const set: fc.Arbitrary<MatchSet<Unbound>> = fc.oneof(
    some(fc.oneof(literal, parameter, terminology), 1).map((items) => ({ kind: 'list' as const, items, at })),
    fc
      .constantFrom('terminology://hl7.org/x?y=z', 'http://a.b/c')
      .map((uri) => ({ kind: 'uri' as const, uri, at })),
  );
  const left = fc.oneof<fc.Arbitrary<ValueExpression<Unbound>>[]>(aPath, aCall, terminology);
  return {
    step: fc.record({ attribute, predicate: optionalPredicate, at: fc.constant(at) }),
    objectPath: fc
      .tuple(fc.constantFrom('name', 'value', 'min'), optionalPredicate, fc.array(aStep, { maxLength: 2 }))
      .map(([first, predicate, rest]) => ({
        kind: 'object-path' as const,
        steps: [{ attribute: first, predicate, at }, ...rest],
        at,
      })),
    predicate: some(group, 1).map((alternatives) => ({ kind: 'predicate' as const, alternatives, at })),
    path: fc.record({
      kind: fc.constant('path' as const),
      variable: word,
      predicate: optionalPredicate,
      steps: fc.array(aStep, { maxLength: 3 }),
      at: fc.constant(at),
    }),
    call: fc.record({
      kind: fc.constant('function' as const),
      name: fc.constantFrom('LENGTH', 'CONTAINS', 'CONCAT_WS', 'NOW'),
      args: some(aValue, 0),
      at: fc.constant(at),
    }),
    value: fc.oneof({ depthSize: 'small' }, literal, parameter, aPath, aCall, terminology),
    condition: fc.oneof(
      { depthSize: 'small' },
      fc.record({
        kind: fc.constant('comparison' as const),
        left,
        operator,
        right: aValue,
        at: fc.constant(at),
      }),
      fc.record({ kind: fc.constant('exists' as const), path: aPath, at: fc.constant(at) }),
      fc.record({
        kind: fc.constant('like' as const),
        left,
        pattern: textOrParameter,
        negated: fc.boolean(),
        at: fc.constant(at),
      }),
      fc.record({
        kind: fc.constant('matches' as const),
        left,
        set,
        negated: fc.boolean(),
        at: fc.constant(at),
      }),
      fc.record({ kind: fc.constant('not' as const), operand: aCondition, at: fc.constant(at) }),
      fc.record({
        kind: fc.constantFrom('and' as const, 'or' as const),
        operands: some(aCondition, 2),
        at: fc.constant(at),
      }),
    ),
    from: fc.oneof(
      { depthSize: 'small' },
      fc.record({
        kind: fc.constant('class' as const),
        className,
        variable: fc.option(word),
        versions: fc.constant(null),
        predicate: optionalPredicate,
        contains: fc.option(fc.record({ negated: fc.boolean(), child: aFrom }), { maxDepth: 4 }),
        at: fc.constant(at),
      }),
      fc.record({
        kind: fc.constant('class' as const),
        className: fc.constantFrom('VERSION', 'ORIGINAL_VERSION'),
        variable: fc.option(word),
        versions: fc.constantFrom('latest' as const, 'all' as const),
        predicate: fc.constant(null),
        contains: fc.option(fc.record({ negated: fc.boolean(), child: aFrom }), { maxDepth: 4 }),
        at: fc.constant(at),
      }) satisfies fc.Arbitrary<ClassExpression<Placeholder>>,
      fc.record({
        kind: fc.constantFrom('from-and' as const, 'from-or' as const),
        operands: some(aFrom, 2),
        at: fc.constant(at),
      }),
    ),
  };
});

const aggregate = fc.oneof(
  fc.record({
    kind: fc.constant('aggregate' as const),
    name: fc.constantFrom('MIN' as const, 'MAX' as const, 'SUM' as const, 'AVG' as const),
    distinct: fc.constant(false),
    argument: fc.oneof(parts.path, parts.call),
    at: fc.constant(at),
  }),
  fc.boolean().map((isAll) => ({
    kind: 'aggregate' as const,
    name: 'COUNT' as const,
    distinct: false,
    argument: isAll ? null : ({ kind: 'path', variable: 'a', predicate: null, steps: [], at } as const),
    at,
  })),
  parts.path.map((argument) => ({
    kind: 'aggregate' as const,
    name: 'COUNT' as const,
    distinct: true,
    argument,
    at,
  })),
);
const columnExpression: fc.Arbitrary<ColumnExpression<Unbound>> = fc.oneof(
  parts.path,
  literal,
  parts.call,
  terminology,
  aggregate,
);
const count = (least: number): fc.Arbitrary<(Literal & { kind: 'integer' | 'real' }) | Parameter> =>
  fc.oneof(
    fc.integer({ min: least, max: 1000 }).map((value) => ({ kind: 'integer' as const, value, at })),
    parameter,
  );

/** Any tree that the grammar allows, whether it means something or not. */
export const queryTrees: fc.Arbitrary<ParsedQuery> = fc
  .record({
    select: fc.record({
      distinct: fc.boolean(),
      top: fc.option(
        fc.record({
          count: fc.integer({ min: 1, max: 99 }),
          direction: fc.constantFrom('forward' as const, 'backward' as const),
          at: fc.constant(at),
        }),
      ),
      columns: fc.array(
        fc.record({
          expression: columnExpression,
          alias: fc.option(word),
          text: fc.constant(''),
          at: fc.constant(at),
        }),
        { minLength: 1, maxLength: 3 },
      ),
    }),
    from: parts.from,
    where: fc.option(parts.condition),
    orderBy: fc.array(
      fc.record({
        expression: fc.oneof(parts.path, parts.call, aggregate),
        descending: fc.boolean(),
        at: fc.constant(at),
      }),
      { maxLength: 3 },
    ),
    limit: fc.option(
      fc
        .tuple(fc.option(count(1)), fc.option(count(0)))
        .map(([limit, offset]) => (limit === null && offset === null ? null : { limit, offset, at })),
    ),
  })
  .map((query) => (query.select.top === null ? query : { ...query, limit: null }));
