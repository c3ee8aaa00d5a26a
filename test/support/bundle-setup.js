/** Before tests that read the workflow bundle: builds src and bundles the workflows, if they are newer. No server. */
const { bundle } = require('../../scripts/lib/paths');
const { ensureBuild, ensureTools } = require('../../scripts/lib/build');

module.exports = async () => {
  await ensureBuild();
  await ensureTools();
  process.env.TEMPER_TEST_WORKFLOW_BUNDLE = bundle;
};
