/**
 * A real Glance for tests: installed and migrated once per user. As a program it prints `{"glance": {...}}` or
 * `{"missing": reason}`.
 */

const fs = require('node:fs');
const path = require('node:path');
const { ensureEnvironment } = require('./python');
const { fingerprint } = require('./fingerprint');
const { cacheDir, root } = require('./paths');
const { run } = require('./run');
const { timed } = require('./say');
const { withLock } = require('./lock');
const { tell } = require('./told');

const requirements = path.join(root, 'test', 'clients', 'glance-requirements.txt');
const database = 'glance.db';
const stores = ['images', 'staging', 'tasks'];

/** What Glance logs in at Keystone with; only a served Glance needs it. */
const login = ({ url, password }) => `[keystone_authtoken]
auth_type = password
auth_url = ${url}/v3
www_authenticate_uri = ${url}/v3
username = glance
password = ${password}
project_name = service
user_domain_id = default
project_domain_id = default
service_token_roles_required = true
`;

/** The settings of a Glance whose state is in a folder. `paste` is the file of the environment that names its applications. */
const settings = (dir, paste, keystone) => `[DEFAULT]
enabled_backends = files:file
[database]
connection = sqlite:///${path.join(dir, database)}?timeout=60
${keystone ? login(keystone) : ''}[paste_deploy]
flavor = keystone
config_file = ${paste}
[glance_store]
default_backend = files
[files]
filesystem_store_datadir = ${path.join(dir, 'images')}
[os_glance_staging_store]
filesystem_store_datadir = ${path.join(dir, 'staging')}
[os_glance_tasks_store]
filesystem_store_datadir = ${path.join(dir, 'tasks')}
[oslo_concurrency]
lock_path = ${path.join(dir, 'locks')}
`;

const pasteIn = (bin) => path.join(bin, '..', 'etc', 'glance', 'glance-api-paste.ini');

/** Puts settings and folders into a folder; answers with the path of the settings. */
function writeSettings(dir, bin, keystone) {
  for (const name of [...stores, 'locks']) fs.mkdirSync(path.join(dir, name), { recursive: true, mode: 0o700 });
  const file = path.join(dir, 'glance-api.conf');
  fs.writeFileSync(file, settings(dir, pasteIn(bin), keystone), { mode: 0o600 });
  return file;
}

async function prepare(bin, dir) {
  fs.rmSync(dir, { recursive: true, force: true });
  fs.mkdirSync(dir, { recursive: true, mode: 0o700 });
  const config = writeSettings(dir, bin);
  const manage = path.join(bin, 'glance-manage');
  const answer = await run(manage, ['--config-file', config, 'db_sync'], { timeoutMs: 300_000 });
  if (!answer.ok) throw new Error(`glance-manage db_sync: ${answer.reason}`);
  // Last: a folder without it is not whole.
  fs.writeFileSync(path.join(dir, 'complete'), '', { mode: 0o600 });
}

/**
 * Makes sure that Glance and a migrated database of it are in the user's cache.
 * @returns {Promise<{bin: string, state: string}>} `state` is a folder to be copied, never used as it is
 * @throws Error that says why it cannot be had
 */
async function ensureGlance() {
  const bin = await ensureEnvironment('glance', requirements, 'Glance');
  const made = fingerprint([requirements, __filename], process.arch).slice(0, 16);
  const state = cacheDir('glance', `state-${made}`);
  await withLock(`${state}.lock`, 'preparing Glance', async () => {
    if (!fs.existsSync(path.join(state, 'complete'))) await timed('preparing Glance', () => prepare(bin, state));
  });
  return { bin, state };
}

/** A copy of the state that believes a Keystone; answers with the path of its settings. */
function copyState({ bin, state }, dir, keystone) {
  fs.cpSync(path.join(state, database), path.join(dir, database));
  return writeSettings(dir, bin, keystone);
}

if (require.main === module) tell(ensureGlance().then((glance) => ({ glance })));

module.exports = { copyState, ensureGlance };
