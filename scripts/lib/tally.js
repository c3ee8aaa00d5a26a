/**
 * A program: adds up Jest's reports for `.ci/run`. Arguments are files of `jest --json`, and words `failed:<what>` for
 * checks that are no tests. Its last line is `N passed, N failed`, and `, N skipped` where something was; it exits with 1
 * when anything failed or a core suite was skipped. With `CI_TOOLS=all`, for machines that bring every tool, a suite
 * whose tools are missing fails as well; elsewhere a line says so.
 */

const fs = require('node:fs');
const path = require('node:path');
const { readJson, root } = require('./paths');

/** Suites without which the product is not tested at all, by folder of test. */
const core = ['policy', 'states', 'layout', 'replay', 'api', 'activities', 'e2e'];

/** Suites of which a part may be skipped where every other tool is there, too, and why. */
const optional = {
  'test/cli/completion.test.ts': 'zsh and fish are shells of users, not tools of a build',
  'test/bin/file-faults.test.ts': 'mounts and other accounts are rights of a machine, not tools',
  'test/bin/reuse-port.test.ts': 'Node 20 is supported, and cannot share a port',
  'test/clients/terraform.test.ts': "the provider's program is in no registry; its requests are sent without it",
};

/** Folder of test that a suite lies in. */
const folderOf = (file) => path.relative(path.join(root, 'test'), file).split(path.sep)[0];

const isSkipped = ({ status }) => status === 'pending' || status === 'skipped' || status === 'disabled';

/** The skipped tests of a suite: how many, and the name of the first, which says why. */
const skippedIn = ({ assertionResults }) => assertionResults.filter(isSkipped);

/**
 * @param {{testResults: {name: string, status: string, assertionResults: {status: string, fullName: string}[]}[]}[]} reports
 * @param {string[]} failures what failed beside the tests
 * @param {{allTools?: boolean}} [where]
 */
function tally(reports, failures, { allTools = false } = {}) {
  // A suite that ran twice counts as it went the second time.
  const suites = [
    ...new Map(reports.flatMap(({ testResults }) => testResults).map((suite) => [suite.name, suite])).values(),
  ];
  const tests = suites.flatMap(({ assertionResults }) => assertionResults);
  // A suite that could not even be loaded has no tests, and is one failure.
  const broken = suites.filter(
    ({ status, assertionResults }) => status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
  );
  const skipped = suites.filter((suite) => skippedIn(suite).length > 0);
  const ran = new Set(
    suites
      .filter(({ assertionResults }) => assertionResults.some((test) => test.status === 'passed'))
      .map(({ name }) => folderOf(name)),
  );
  const missing = core.filter((folder) => !ran.has(folder) || skipped.some(({ name }) => folderOf(name) === folder));
  const without = skipped
    .map(({ name }) => path.relative(root, name))
    .filter((file) => !Object.hasOwn(optional, file) && !missing.includes(folderOf(path.join(root, file))));
  const problems = [
    ...failures,
    ...broken.map(({ name }) => `${path.relative(root, name)} could not run`),
    ...missing.map((folder) => `test/${folder} is a core suite, and was skipped in part or whole`),
    ...(allTools
      ? without.map((file) => `${file} was skipped in part or whole: this machine has to have what it needs`)
      : []),
  ];
  return {
    notes: skipped.map(
      (suite) =>
        `skipped: ${path.relative(root, suite.name)} (${skippedIn(suite).length}): ${skippedIn(suite)[0].fullName}`,
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
  const allTools = process.env.CI_TOOLS === 'all';
  const reports = files.map((file) => readJson(file)).filter(Boolean);
  const { notes, problems, passed, failed, skipped } = tally(reports, [...failures, ...silent], { allTools });
  for (const line of [...notes, ...problems.map((problem) => `failed: ${problem}`)]) process.stdout.write(`${line}\n`);
  process.stdout.write(`${passed} passed, ${failed} failed${skipped === 0 ? '' : `, ${skipped} skipped`}\n`);
  process.exitCode = failed === 0 ? 0 : 1;
}

if (require.main === module) main(process.argv.slice(2));

module.exports = { tally };
