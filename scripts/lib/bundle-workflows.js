/** A program: bundles the workflows file given first into the file given second, as the same bytes wherever the checkout lies. */

const path = require('node:path');
const { bundleWorkflowCode, DefaultLogger } = require('@temporalio/worker');
const { root, writeFile } = require('./paths');

const [workflowsPath, target] = process.argv.slice(2);

const workflowInterceptorModules = [path.join(path.dirname(workflowsPath), 'trace.js')];

const built = path.dirname(path.dirname(workflowsPath));
const { sharedModules } = require(path.join(built, 'process/temporal/shared-modules.js'));
const preloadModules = sharedModules.map((file) => path.join(built, file));

/**
 * Lines without columns: in the generated entry, which requires files by their full paths, columns follow from where they lie.
 * Modules are named from the checkout on, and not from the folder of the process that starts this.
 */
const webpackConfigHook = (config) => ({ ...config, context: root, devtool: 'inline-cheap-module-source-map' });

const inlineMap = /(\/\/# sourceMappingURL=data:application\/json;charset=utf-8;base64,)(\S+)/;

/** Files in the map are named from the checkout on, and the file that is mapped by its own name. */
const placeless = (code) =>
  code.replace(inlineMap, (_, head, encoded) => {
    const map = JSON.parse(Buffer.from(encoded, 'base64').toString('utf8').replaceAll(`${root}${path.sep}`, ''));
    return head + Buffer.from(JSON.stringify({ ...map, file: path.basename(target) })).toString('base64');
  });

bundleWorkflowCode({
  workflowsPath,
  workflowInterceptorModules,
  preloadModules,
  webpackConfigHook,
  logger: new DefaultLogger('WARN'),
}).then(
  ({ code }) => writeFile(target, placeless(code)),
  (failure) => {
    process.stderr.write(`${failure.message}\n`);
    process.exitCode = 1;
  },
);
