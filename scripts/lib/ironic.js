/** A real Ironic for tests, installed once per user. As a program it prints `{"ironic": {...}}` or `{"missing": reason}`. */

const path = require('node:path');
const { ensureEnvironment } = require('./python');
const { root } = require('./paths');
const { tell } = require('./told');

const requirements = path.join(root, 'test', 'clients', 'ironic-requirements.txt');

/** @returns {Promise<{python: string}>} the command of its Python @throws Error that says why it cannot be had */
const ensureIronic = async () => ({
  python: path.join(await ensureEnvironment('ironic', requirements, 'Ironic'), 'python'),
});

if (require.main === module) tell(ensureIronic().then((ironic) => ({ ironic })));
