/**
 * Lets a child run src as it stands, without a build: loaded by --require in front of an entry. What was made of a text is
 * kept by that text, because a hundred processes start from the same files.
 */

const { createHash } = require('node:crypto');
const fs = require('node:fs');
const path = require('node:path');
const { version } = require('@swc/core/package.json');

const options = {
  jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
  // A module that is no CommonJS is imported when it is needed, and stays an import.
  module: { type: 'commonjs', ignoreDynamic: true },
  sourceMaps: 'inline',
  swcrc: false,
};

const pages = {
  ...options,
  jsc: {
    ...options.jsc,
    parser: { syntax: 'typescript', tsx: true },
    transform: { react: { runtime: 'automatic', importSource: 'preact' } },
  },
};

const kept = path.join(__dirname, '../../../.temper/registered');
const salt = JSON.stringify([version, pages]);

/** Written whole or not at all, for several start at once; a child that may not write here goes without. */
const keep = (file, code) => {
  try {
    fs.mkdirSync(kept, { recursive: true });
    const own = `${file}.${process.pid}`;
    fs.writeFileSync(own, code);
    fs.renameSync(own, file);
  } catch {}
};

const read = (file) => {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
};

const compiled = (source, filename) => {
  const file = path.join(kept, createHash('sha1').update(salt).update(filename).update(source).digest('hex'));
  const before = read(file);
  if (before) return before;
  // Read where there is something to make alone: it takes a tenth of a second.
  const { transformSync } = require('@swc/core');
  const { code } = transformSync(source, { ...(filename.endsWith('.tsx') ? pages : options), filename });
  keep(file, code);
  return code;
};

for (const end of ['.ts', '.tsx'])
  require.extensions[end] = (module, file) => module._compile(compiled(fs.readFileSync(file, 'utf8'), file), file);
