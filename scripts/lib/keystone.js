/**
 * A real Keystone for tests: installed, migrated and bootstrapped once per user. As a program it prints
 * `{"keystone": {...}}` or `{"missing": reason}`.
 */

const { randomBytes } = require('node:crypto');
const fs = require('node:fs');
const path = require('node:path');
const { ensureEnvironment } = require('./python');
const { fingerprint } = require('./fingerprint');
const { cacheDir, root } = require('./paths');
const { run } = require('./run');
const { timed } = require('./say');
const { withLock } = require('./lock');
const { tell } = require('./told');

const requirements = path.join(root, 'test', 'clients', 'keystone-requirements.txt');

const keyFolders = ['fernet', 'credential'];

/** The settings of a Keystone whose state is in a folder. Few rounds of bcrypt: the tests' passwords are nobody's. */
const settings = (dir) => `[database]
connection = sqlite:///${path.join(dir, 'keystone.db')}?timeout=60
[token]
provider = fernet
[fernet_tokens]
key_repository = ${path.join(dir, 'fernet')}
[fernet_receipts]
key_repository = ${path.join(dir, 'fernet')}
[credential]
key_repository = ${path.join(dir, 'credential')}
[identity]
password_hash_rounds = 4
`;

/** Puts the settings for the state in a folder beside it; answers with their path. */
function writeSettings(dir) {
  const file = path.join(dir, 'keystone.conf');
  fs.writeFileSync(file, settings(dir), { mode: 0o600 });
  return file;
}

/** What makes an empty folder the state of a Keystone. Its catalog names an address that nobody is sent to. */
const preparations = (user, password) => [
  ['db_sync'],
  ...['fernet_setup', 'credential_setup'].map((word) => [word, '--keystone-user', user, '--keystone-group', user]),
  [
    'bootstrap',
    ...['--bootstrap-password', password, '--bootstrap-region-id', 'test'],
    ...['public', 'internal', 'admin'].flatMap((kind) => [`--bootstrap-${kind}-url`, 'http://127.0.0.1:5000/v3/']),
  ],
];

/** The account that runs us, by id: Keystone takes either, and a container's account may have no name. */
const account = () => String(process.getuid?.() ?? 0);

async function prepare(bin, dir) {
  fs.rmSync(dir, { recursive: true, force: true });
  for (const name of keyFolders) fs.mkdirSync(path.join(dir, name), { recursive: true, mode: 0o700 });
  const config = writeSettings(dir);
  const password = randomBytes(12).toString('hex');
  for (const args of preparations(account(), password)) {
    const manage = path.join(bin, 'keystone-manage');
    const answer = await run(manage, ['--config-file', config, ...args], { timeoutMs: 300_000 });
    if (!answer.ok) throw new Error(`keystone-manage ${args[0]}: ${answer.reason}`);
  }
  // Last: a folder without it is not whole.
  fs.writeFileSync(path.join(dir, 'password'), password, { mode: 0o600 });
}

/**
 * Makes sure that Keystone and a bootstrapped state of it are in the user's cache.
 * @returns {Promise<{python: string, state: string, password: string}>} `state` is a folder to be copied, never used as it
 *   is; `password` is that of its user `admin`
 * @throws Error that says why it cannot be had
 */
async function ensureKeystone() {
  const bin = await ensureEnvironment('keystone', requirements, 'Keystone');
  const made = fingerprint([requirements, __filename], process.arch, account()).slice(0, 16);
  const state = cacheDir('keystone', `state-${made}`);
  const file = path.join(state, 'password');
  await withLock(`${state}.lock`, 'preparing Keystone', async () => {
    if (!fs.existsSync(file)) await timed('preparing Keystone', () => prepare(bin, state));
  });
  return { python: path.join(bin, 'python'), state, password: fs.readFileSync(file, 'utf8') };
}

/** A copy of the state, ready to be served; answers with the path of its settings. */
function copyState(state, dir) {
  for (const name of [...keyFolders, 'keystone.db'])
    fs.cpSync(path.join(state, name), path.join(dir, name), { recursive: true });
  return writeSettings(dir);
}

if (require.main === module) tell(ensureKeystone().then((keystone) => ({ keystone })));

module.exports = { copyState, ensureKeystone };
