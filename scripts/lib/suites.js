/**
 * The functional tests of OpenStack's own projects, in a Python environment of their own, installed once per user. As a
 * program it prints `{"bin": folder}` or `{"missing": reason}`.
 */

const path = require('node:path');
const { ensureEnvironment } = require('./python');
const { root } = require('./paths');
const { tell } = require('./told');

const requirements = path.join(root, 'test', 'clients', 'tempest-requirements.txt');

/** Makes sure that they are installed; answers with the folder of their commands. */
const ensureSuites = () => ensureEnvironment('suites', requirements, "OpenStack's own functional tests");

if (require.main === module) tell(ensureSuites().then((bin) => ({ bin })));

module.exports = { ensureSuites };
