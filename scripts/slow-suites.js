/**
 * `node scripts/slow-suites.js REPORT...`: writes test/support/slow-suites.js from reports of `jest --json`. A suite that is in no
 * report keeps its row.
 */

const fs = require('node:fs');
const path = require('node:path');
const { readJson, root } = require('./lib/paths');
const { slowSuites } = require('../test/support/slow-suites');

/** Shorter suites start in Jest's own order. */
const slowSeconds = 15;

const tests = path.join(root, 'test');
const nameOf = (file) =>
  path.relative(tests, file.slice(file.lastIndexOf('/test/') + 1).replace(/^test/, tests)).replace(/\.test\.ts$/, '');

const measured = process.argv
  .slice(2)
  .flatMap((file) => readJson(file).testResults)
  .map(({ name, startTime, endTime }) => [nameOf(name), Math.round((endTime - startTime) / 1_000)]);

const rows = Object.entries({ ...slowSuites, ...Object.fromEntries(measured) })
  .filter(([name, seconds]) => seconds > slowSeconds && fs.existsSync(path.join(tests, `${name}.test.ts`)))
  .sort(([, one], [, other]) => other - one);

const text = [
  '/** Seconds that test files take, the slowest first. `node scripts/slow-suites.js` writes this file from reports of Jest. */',
  'module.exports.slowSuites = {',
  ...rows.map(([name, seconds]) => `  '${name}': ${seconds},`),
  '};',
  '',
];
fs.writeFileSync(path.join(tests, 'support', 'slow-suites.js'), text.join('\n'));
