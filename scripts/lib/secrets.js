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
 *   digestKeys: string, consoleKey: string, secretsKeys?: string}} `secretsKeys` where the folder is of a release that had one key for both
 */
function secretsOf(dir) {
  const file = path.join(dir, 'secrets.json');
  const kept = readJson(file);
  if (kept?.privateKeys && kept.boot && kept.consoleKey) return kept;
  const made = {
    ...(kept ?? { postgres: password(), api: password(), control: password(), bmc: password() }),
    // A folder of an earlier release lacks some of these.
    consoleKey: kept?.consoleKey ?? `c1:${randomBytes(32).toString('base64')}`,
    boot: kept?.boot ?? password(),
    ...(!kept?.privateKeys && { ...pair('p1'), digestKeys: `d1:${randomBytes(32).toString('base64')}` }),
  };
  writeFile(file, `${JSON.stringify(made, null, 2)}\n`, 0o600);
  return made;
}

module.exports = { secretsOf };
