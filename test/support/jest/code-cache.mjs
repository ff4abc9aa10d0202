import vm from 'node:vm';

/**
 * Memoizes what V8 makes of a source. Each test file loads a thousand modules into a context of its own, most of them those of
 * the file before in its worker; to parse them anew took a tenth of the processor time of all tests.
 */
const kept = new Map();

/** The data of this source, if it was compiled before. */
function dataOf(name, source) {
  const found = kept.get(name);
  return found?.source === source ? found.data : undefined;
}

/** Of code that comes from such data Node.js does not know what `import()` is to do. */
const isKept = (source) => !source.includes('import(');

const { compileFunction, SourceTextModule } = vm;

/** As Node.js' own, for the CommonJS modules of packages. */
function compileFunctionOnce(source, parameters, options) {
  const cachedData = dataOf(options.filename, source);
  if (cachedData !== undefined) return compileFunction(source, parameters, { ...options, cachedData });
  const compiled = compileFunction(source, parameters, { ...options, produceCachedData: true });
  if (isKept(source)) kept.set(options.filename, { source, data: compiled.cachedData });
  return compiled;
}

/** As Node.js' own; there is none without `--experimental-vm-modules`. */
class SourceTextModuleOnce extends (SourceTextModule ?? Object) {
  constructor(source, options) {
    const cachedData = dataOf(options.identifier, source);
    super(source, cachedData === undefined ? options : { ...options, cachedData });
    if (cachedData === undefined && isKept(source))
      kept.set(options.identifier, { source, data: this.createCachedData() });
  }
}

/** From now on in this process. Not where coverage is counted: code from data counts otherwise. */
export function keepCompiledCode() {
  vm.compileFunction = compileFunctionOnce;
  if (SourceTextModule !== undefined) vm.SourceTextModule = SourceTextModuleOnce;
}
