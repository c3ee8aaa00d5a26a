/**
 * Jest's runtime, which keeps what does not belong to a test file: a worker process loads src, the emulator, packages and Jest's
 * own parts once. A file that calls `jest.mock` loads src and packages for itself.
 */
const fs = require('node:fs');
const { createRequire } = require('node:module');
const path = require('node:path');
const vm = require('node:vm');
const Runtime = require('jest-runtime').default;

const tests = path.resolve(__dirname, '..', '..') + path.sep;
/** Of the tests, what is dear to make and holds no hook of a test file. */
const dear = new Set([path.join(tests, 'support', 'described.ts')]);
/** It holds the state of one test file. */
const ofOneFile = `${path.sep}jest-circus${path.sep}`;

/** By path: the modules of this process, and where their source maps are. */
const modules = new Map();
const sourceMaps = new Map();

/** Parsed among the globals of this process. */
const compile = (code, filename, parameters) =>
  vm.compileFunction(code, parameters, {
    filename,
    importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });

module.exports = class KeepingRuntime extends Runtime {
  constructor(config, environment, resolver, transformer, cacheFS, coverage, testPath, globalConfig) {
    super(config, environment, resolver, transformer, cacheFS, coverage, testPath, globalConfig);
    this.transformer = transformer;
    this.mocks = fs.readFileSync(testPath, 'utf8').includes('jest.mock(');
    const { executor } = this;
    executor.compile = (code, filename) => compile(code, filename, executor.injectedModuleParameters);
    for (const [file, map] of sourceMaps) this.transformCache.sourceMaps.set(file, map);
  }

  requireModule(from, name, options, isActual) {
    if (!name || this._resolution.isCoreModule(name)) return super.requireModule(from, name, options, isActual);
    const file = this._resolution.resolveCjs(from, name);
    if (options?.isInternalModule ? !file.includes(ofOneFile) : !this.mocks && !file.startsWith(tests))
      return this.kept(file);
    return dear.has(file) && !this.mocks ? this.kept(file) : super.requireModule(from, name, options, isActual);
  }

  /** @returns the exports of a module that stays when the test file has ended */
  kept(file) {
    if (!this.transformer.shouldTransform(file) || path.extname(file) === '.json') return require(file);
    const known = modules.get(file);
    if (known) return known.exports;
    const made = { exports: {}, filename: file };
    modules.set(file, made);
    try {
      this.run(made, file);
    } catch (failure) {
      modules.delete(file);
      throw failure;
    }
    return made.exports;
  }

  run(made, file) {
    const { code, sourceMapPath } = this.transformer.transform(file, this._getFullTransformationOptions());
    if (sourceMapPath) for (const maps of [sourceMaps, this.transformCache.sourceMaps]) maps.set(file, sourceMapPath);
    const node = createRequire(file);
    const required = (name) =>
      this._resolution.isCoreModule(name) ? node(name) : this.kept(this._resolution.resolveCjs(file, name));
    Object.assign(required, { resolve: node.resolve, main: undefined });
    const run = compile(code, file, ['module', 'exports', 'require', '__dirname', '__filename']);
    run.call(made.exports, made, made.exports, required, path.dirname(file), file);
  }
};
