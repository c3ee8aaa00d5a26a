/**
 * A program: adds up Jest's reports for `.ci/run`. Arguments are files of `jest --json`, and words `failed:<what>` for
 * checks that are no tests. Its last line is `N passed, N failed`, and `, N skipped` where something was; it exits with 1
 * when anything failed or a core suite was skipped.
 */

const fs = require('node:fs');
const path = require('node:path');
const { readJson, root } = require('./paths');

/** Suites without which the product is not tested at all, by folder of test. */
const core = ['policy', 'states', 'layout', 'replay', 'api', 'activities', 'e2e'];

/** Folder of test that a suite lies in. */
const folderOf = (file) => path.relative(path.join(root, 'test'), file).split(path.sep)[0];

const isSkipped = ({ status }) => status === 'pending' || status === 'skipped' || status === 'disabled';

/**
 * @param {{testResults: {name: string, status: string, assertionResults: {status: string, fullName: string}[]}[]}[]} reports
 * @param {string[]} failures what failed beside the tests
 */
function tally(reports, failures) {
  // A suite that ran twice counts as it went the second time.
  const suites = [
    ...new Map(reports.flatMap(({ testResults }) => testResults).map((suite) => [suite.name, suite])).values(),
  ];
  const tests = suites.flatMap(({ assertionResults }) => assertionResults);
  // A suite that could not even be loaded has no tests, and is one failure.
  const broken = suites.filter(
    ({ status, assertionResults }) => status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
  );
  const skipped = suites.filter(({ assertionResults }) => assertionResults.some(isSkipped));
  const ran = new Set(
    suites
      .filter(({ assertionResults }) => assertionResults.some((test) => test.status === 'passed'))
      .map(({ name }) => folderOf(name)),
  );
  const missing = core.filter((folder) => !ran.has(folder) || skipped.some(({ name }) => folderOf(name) === folder));
  const problems = [
    ...failures,
    ...broken.map(({ name }) => `${path.relative(root, name)} could not run`),
    ...missing.map((folder) => `test/${folder} is a core suite, and was skipped in part or whole`),
  ];
  return {
    notes: skipped.map(
      ({ name, assertionResults }) =>
        `skipped: ${path.relative(root, name)} (${assertionResults.filter(isSkipped).length})`,
    ),
    problems,
    passed: tests.filter(({ status }) => status === 'passed').length,
    failed: tests.filter(({ status }) => status === 'failed').length + problems.length,
    skipped: tests.filter(isSkipped).length,
  };
}

function main(args) {
  const failures = args.filter((word) => word.startsWith('failed:')).map((word) => word.slice('failed:'.length));
  const files = args.filter((word) => !word.startsWith('failed:'));
  const silent = files
    .filter((file) => !fs.existsSync(file))
    .map((file) => `${path.basename(file, '.json')} left no report`);
  const reports = files.map((file) => readJson(file)).filter(Boolean);
  const { notes, problems, passed, failed, skipped } = tally(reports, [...failures, ...silent]);
  for (const line of [...notes, ...problems.map((problem) => `failed: ${problem}`)]) process.stdout.write(`${line}\n`);
  process.stdout.write(`${passed} passed, ${failed} failed${skipped === 0 ? '' : `, ${skipped} skipped`}\n`);
  process.exitCode = failed === 0 ? 0 : 1;
}

if (require.main === module) main(process.argv.slice(2));

module.exports = { tally };
