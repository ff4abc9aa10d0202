/** Methods that call a function for each member. */
const EACH = new Set([
  ...[
    'map',
    'filter',
    'flatMap',
    'forEach',
    'some',
    'every',
    'find',
    'findIndex',
    'findLast',
    'findLastIndex',
  ],
  ...['reduce', 'reduceRight', 'sort', 'toSorted'],
]);
/** What of `base/work.ts` counts nothing: it runs something else on a budget. */
const AROUND = new Set(['exceeded', 'tryHere', 'within']);
/** Methods whose result is no longer than what they are called on. */
const SAME_LENGTH = new Set(['map', 'filter', 'sort', 'reverse', 'slice', 'entries', 'values', 'keys']);

/**
 * A loop whose length a client decides counts on the budget of its request: each `for`, `while`, method with a function for
 * each member, and recursion. `for (const each of counted(list))` and `counted(list).map(…)` count a list, `step()` one turn.
 * What is constant (a literal, a name in capitals, a tuple) need not; a generator counts where it is written. A call of the engine
 * for a whole list (`join`, `includes`, a spread) is no loop of ours: it takes nanoseconds for a member that something else has counted.
 * What the rule cannot see is a recursion over several files: each of them is in `test/attack` by the depth that a client may send.
 * docs/decisions/0046-one-budget-for-each-request.md
 */
export const countedTraversal = {
  meta: {
    type: 'problem',
    fixable: 'code',
    schema: [],
    messages: {
      loop: 'A loop counts on the budget of the request: `step()` in it, or `counted(…)` around what it goes through',
      recursion: 'A recursion counts on the budget of the request: `step()` in {{name}}',
    },
  },
  create(context) {
    const counters = new Set();
    const types = new Types(context);
    const functions = new Functions();
    const isCounting = ({ type, callee }) => type === 'CallExpression' && counters.has(callee.name);
    const isCountingAll = (node) => isCounting(node) && !AROUND.has(node.callee.name);
    const counts = (node) => contains(node, isCounting, true);
    const countsItself = (node) => contains(node, isCountingAll, true);
    const demand = (node, list) => {
      if (!types.isBounded(list)) context.report({ node, messageId: 'loop', fix: wrap(context, list) });
    };
    // Counted in it, or beside it at once: `step(list.length)` for one that goes to the length of the list.
    const loop = (node) => {
      const head = [node.init, node.test, node.update].filter(Boolean);
      if ([...head, node.body].some(counts)) return;
      const names = new Set(head.flatMap(namesIn));
      const isBeside = (statement) =>
        contains(statement, isCountingAll, true) && namesIn(statement).some((name) => names.has(name));
      if (!statementsOf(functionAround(node)).some(isBeside)) context.report({ node, messageId: 'loop' });
    };
    return {
      ImportDeclaration({ source, specifiers }) {
        if (source.value.endsWith('base/work.js'))
          for (const { local } of specifiers) counters.add(local.name);
      },
      ForOfStatement(node) {
        if (!counts(node.body)) demand(node, node.right);
      },
      ForInStatement: loop,
      WhileStatement: loop,
      DoWhileStatement: loop,
      ForStatement(node) {
        if (node.test?.right?.type !== 'Literal') loop(node);
      },
      CallExpression(node) {
        const list = traversed(node, types);
        if (list !== null) demand(node, list);
      },
      ':function'(node) {
        functions.add(node);
      },
      'Program:exit'() {
        for (const { node, name } of functions.cyclesWithout(countsItself))
          context.report({ node, messageId: 'recursion', data: { name } });
      },
    };
  },
};

/** What a call goes through with a function for each member, else null. */
function traversed({ callee, arguments: given }, types) {
  if (callee.type !== 'MemberExpression' || callee.computed) return null;
  const { name } = callee.property;
  if (name === 'from' && callee.object.name === 'Array') return given.length > 1 ? given[0] : null;
  return EACH.has(name) && given.length > 0 && types.isList(callee.object) ? callee.object : null;
}

function wrap(context, list) {
  return (fixer) => fixer.replaceText(list, `counted(${context.sourceCode.getText(list)})`);
}

function functionAround(node) {
  let around = node.parent;
  while (around.type !== 'Program' && !isFunction(around)) around = around.parent;
  return around;
}

/** Whether something stands in a piece of code; `isFlat`: functions that it makes left aside. */
function contains(node, isWanted, isFlat = false) {
  if (isWanted(node)) return true;
  return childrenOf(node).some(
    (child) => !(isFlat && isFunction(child)) && contains(child, isWanted, isFlat),
  );
}

/** The statements of a function, of all its blocks. */
function statementsOf(node) {
  const found = [];
  contains(
    node.body,
    (each) => {
      if (/^(Expression|Variable)/.test(each.type)) found.push(each);
      return false;
    },
    true,
  );
  return found;
}

/** All names that stand in a piece of code. */
function namesIn(node) {
  const names = [];
  contains(node, ({ type, name }) => {
    if (type === 'Identifier') names.push(name);
    return false;
  });
  return names;
}

function childrenOf(node) {
  return Object.entries(node)
    .filter(([key]) => key !== 'parent' && key !== 'typeAnnotation' && key !== 'returnType')
    .flatMap(([, value]) => value)
    .filter((value) => typeof value?.type === 'string');
}

function isFunction({ type }) {
  return type.endsWith('FunctionExpression') || type === 'FunctionDeclaration';
}

/** What is known of lists. */
class Types {
  constructor({ sourceCode }) {
    const { parserServices } = sourceCode;
    this.scopeOf = (node) => sourceCode.getScope(node);
    this.services = parserServices;
    this.checker = parserServices.program.getTypeChecker();
  }

  /** Whether a list was counted, is constant, or counts by itself. */
  isBounded(list) {
    if (list.type === 'TSAsExpression' || list.type === 'TSNonNullExpression')
      return this.isBounded(list.expression);
    if (list.type === 'Identifier' && this.#isConstOfBounded(list)) return true;
    return isCounted(list) || isConstant(list) || this.isTuple(list) || this.isGenerator(list);
  }

  /** `const all = counted(list)` */
  #isConstOfBounded(name) {
    for (let scope = this.scopeOf(name); scope !== null; scope = scope.upper) {
      const [definition] = scope.set.get(name.name)?.defs ?? [];
      if (definition === undefined) continue;
      const { node, parent } = definition;
      return node.init != null && parent?.kind === 'const' && this.isBounded(node.init);
    }
    return false;
  }

  isList(node) {
    const type = this.#typeOf(node);
    return (
      this.checker.isArrayType(type) ||
      this.checker.isTupleType(type) ||
      this.#isAnyOf(node, ['Set', 'Map', 'ReadonlySet', 'ReadonlyMap'])
    );
  }

  isTuple(node) {
    const type = this.#typeOf(node);
    return this.checker.isTupleType(type) && !type.target.hasRestElement;
  }

  isGenerator(node) {
    return this.#isAnyOf(node, ['Generator']);
  }

  #isAnyOf(node, names) {
    return names.includes(this.#typeOf(node).getSymbol()?.name);
  }

  #typeOf(node) {
    return this.checker.getNonNullableType(this.services.getTypeAtLocation(node));
  }
}

function isCounted(list) {
  if (list.type === 'ChainExpression') return isCounted(list.expression);
  if (list.type !== 'CallExpression') return false;
  const { callee } = list;
  if (callee.name === 'counted') return true;
  return (
    callee.type === 'MemberExpression' && SAME_LENGTH.has(callee.property.name) && isCounted(callee.object)
  );
}

function isConstant(list) {
  switch (list.type) {
    case 'ArrayExpression':
      return list.elements.every(
        (element) => element?.type !== 'SpreadElement' || isConstant(element.argument),
      );
    case 'ObjectExpression':
      return list.properties.every(({ value }) => value?.type === 'Literal');
    case 'Identifier':
      return /^[A-Z][A-Z0-9_]*$/.test(list.name);
    case 'MemberExpression':
      return isConstant(list.object);
    case 'CallExpression':
      return (
        list.callee.type === 'MemberExpression' &&
        (SAME_LENGTH.has(list.callee.property.name) && list.callee.object.name !== 'Object'
          ? isConstant(list.callee.object)
          : list.callee.object.name === 'Object' && list.arguments.every(isConstant))
      );
    default:
      return false;
  }
}

/** The functions of a file and which of them call each other. */
class Functions {
  #known = new Map();

  add(node) {
    const name = nameOf(node);
    if (name !== null) this.#known.set(name, node);
  }

  /** Functions that come back to themselves without one that counts on the way. */
  cyclesWithout(counts) {
    const silent = [...this.#known].filter(([, node]) => !counts(node.body));
    const calls = new Map(
      silent.map(([name, node]) => [
        name,
        silent.map(([other]) => other).filter((other) => mentions(node.body, other)),
      ]),
    );
    return silent.filter(([name]) => reaches(calls, name)).map(([name, node]) => ({ name, node }));
  }
}

function reaches(calls, name) {
  const open = [...calls.get(name)];
  const seen = new Set();
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next === name) return true;
    if (seen.has(next)) continue;
    seen.add(next);
    open.push(...calls.get(next));
  }
  return false;
}

/** Called by its name, or given away by it: `list.map(each)`. */
function mentions(body, name) {
  return contains(body, (node) => {
    if (node.type === 'MemberExpression')
      return node.object.type === 'ThisExpression' && `this.${node.property.name}` === name;
    const { parent } = node;
    const isReference = parent?.type !== 'MemberExpression' || parent.object === node || parent.computed;
    return node.type === 'Identifier' && node.name === name && isReference && parent.key !== node;
  });
}

/** `this.name` for a method. */
function nameOf({ id, parent }) {
  if (id) return id.name;
  if (parent.type === 'MethodDefinition') return `this.${parent.key.name}`;
  return parent.type === 'VariableDeclarator' && parent.id.type === 'Identifier' ? parent.id.name : null;
}
