/** Schemathesis for tests, installed once per user. As a program it prints `{"bin": folder}` or `{"missing": reason}`. */

const path = require('node:path');
const { root } = require('./paths');
const { ensureEnvironment } = require('./python');
const { tell } = require('./told');

const requirements = path.join(root, 'test', 'clients', 'schemathesis-requirements.txt');

/** Makes sure that it is in the user's cache; answers with the folder of its commands. */
const ensureSchemathesis = () => ensureEnvironment('schemathesis', requirements, 'Schemathesis');

if (require.main === module) tell(ensureSchemathesis().then((bin) => ({ bin })));

module.exports = { ensureSchemathesis };
