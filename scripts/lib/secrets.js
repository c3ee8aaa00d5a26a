/** The secrets of a data folder: made once, kept in one file that only its owner reads. */

const { generateKeyPairSync, randomBytes } = require('node:crypto');
const path = require('node:path');
const { readJson, writeFile } = require('./paths');

const password = () => randomBytes(18).toString('base64url');

/** A pair of X25519, by the 32 bytes at the end of each half's DER: what is sealed with one is opened with the other. */
function pair(id) {
  const { publicKey, privateKey } = generateKeyPairSync('x25519');
  const text = (der) => `${id}:${der.subarray(-32).toString('base64')}`;
  return {
    publicKeys: text(publicKey.export({ format: 'der', type: 'spki' })),
    privateKeys: text(privateKey.export({ format: 'der', type: 'pkcs8' })),
  };
}

/**
 * @returns {{postgres: string, api: string, control: string, bmc: string, boot: string, publicKeys: string, privateKeys: string,
 *   digestKeys: string, consoleKey: string}}
 */
function secretsOf(dir) {
  const file = path.join(dir, 'secrets.json');
  const kept = readJson(file);
  if (kept) return kept;
  const made = {
    postgres: password(),
    api: password(),
    control: password(),
    bmc: password(),
    boot: password(),
    ...pair('p1'),
    digestKeys: `d1:${randomBytes(32).toString('base64')}`,
    consoleKey: `c1:${randomBytes(32).toString('base64')}`,
  };
  writeFile(file, `${JSON.stringify(made, null, 2)}\n`, 0o600);
  return made;
}

module.exports = { secretsOf };
