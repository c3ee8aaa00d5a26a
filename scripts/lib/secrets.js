/** The secrets of a data folder: made once, kept in one file that only its owner reads. */

const { randomBytes } = require('node:crypto');
const path = require('node:path');
const { readJson, writeFile } = require('./paths');

const password = () => randomBytes(18).toString('base64url');

/** @returns {{postgres: string, api: string, control: string, bmc: string, secretsKeys: string}} */
function secretsOf(dir) {
  const file = path.join(dir, 'secrets.json');
  const kept = readJson(file);
  if (kept) return kept;
  const made = {
    postgres: password(),
    api: password(),
    control: password(),
    bmc: password(),
    // Name and key under which the product encrypts what it stores of others' secrets.
    secretsKeys: `k1:${randomBytes(32).toString('base64')}`,
  };
  writeFile(file, `${JSON.stringify(made, null, 2)}\n`, 0o600);
  return made;
}

module.exports = { secretsOf };
