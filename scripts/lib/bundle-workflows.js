/** A program: bundles the workflows file given first into the file given second. */

const path = require('node:path');
const { bundleWorkflowCode, DefaultLogger } = require('@temporalio/worker');
const { writeFile } = require('./paths');

const [workflowsPath, target] = process.argv.slice(2);

const workflowInterceptorModules = [path.join(path.dirname(workflowsPath), 'trace.js')];

bundleWorkflowCode({ workflowsPath, workflowInterceptorModules, logger: new DefaultLogger('WARN') }).then(
  ({ code }) => writeFile(target, code),
  (failure) => {
    process.stderr.write(`${failure.message}\n`);
    process.exitCode = 1;
  },
);
