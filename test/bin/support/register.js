/** Lets a child run src as it stands, without a build: loaded by --require in front of an entry. */

const { transformFileSync } = require('@swc/core');

const options = {
  jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
  // A module that is no CommonJS is imported when it is needed, and stays an import.
  module: { type: 'commonjs', ignoreDynamic: true },
  sourceMaps: 'inline',
  swcrc: false,
};

require.extensions['.ts'] = (module, file) => module._compile(transformFileSync(file, options).code, file);
