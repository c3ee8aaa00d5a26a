/**
 * A program: PostgreSQL and Temporal for one test run. It ends them when its parent goes, however the parent goes, and
 * tells it once where they are: `{ env }`, or `{ failed }`.
 */

const { randomBytes } = require('node:crypto');
const fs = require('node:fs');
const path = require('node:path');
const { becomesReady, start, tail } = require('./child');
const { bin, dist, temporaryDir, writeFile } = require('./paths');
const { freePorts } = require('./ports');
const { identify } = require('./processes');
const { namespace } = require('./temporal-settings');
const { preparePostgres } = require('./postgres');
const { prepareTemporal } = require('./temporal');
const { recordOf, sweepTemporary } = require('./orphans');
const { run } = require('./run');
const { Stop, main } = require('./say');

const dir = temporaryDir('test');
const owner = identify(process.pid);
const running = [];
const cleanUps = [];

async function bringUp(spec) {
  await spec.beforeStart?.();
  const log = path.join(dir, `${spec.name}.log`);
  const child = start(spec, log);
  running.push(child);
  note();
  const trouble = await becomesReady(child);
  if (trouble) throw new Stop(`${spec.name} did not start: ${trouble}\n${tail(log)}`);
}

function note() {
  const processes = running.map(({ spec, identity }) => ({
    name: spec.name,
    stopSignal: spec.stopSignal,
    ...identity,
  }));
  writeFile(recordOf(dir), JSON.stringify({ owner, processes }), 0o600);
}

/** Databases of the tests are copies of this one; made on the given server or on one of our own. */
async function startDatabase(port) {
  const given = process.env.TEMPER_TEST_DATABASE_URL;
  const password = randomBytes(12).toString('hex');
  const spec = given
    ? { url: given }
    : await preparePostgres({ dir: path.join(dir, 'postgres'), port, password, durable: false });
  if (!given) await bringUp(spec);
  return spec.url;
}

async function startTemporal(port) {
  const given = process.env.TEMPER_TEST_TEMPORAL_ADDRESS;
  if (given) return given;
  const spec = await prepareTemporal({ port });
  await bringUp(spec);
  return spec.address;
}

/** One migrated database, of which a copy takes 50 ms; the roles of all copies share one password. */
async function makeTemplate(url, rolePassword, temporal) {
  const template = `temper_template_${process.pid}`;
  const postgres = require('postgres');
  const admin = postgres(url, { max: 1, onnotice() {} });
  await admin.unsafe(`create database ${template}`);
  cleanUps.push(async () => {
    await admin.unsafe(`drop database if exists ${template} with (force)`);
    await admin.end({ timeout: 1 });
  });
  const target = Object.assign(new URL(url), { pathname: `/${template}` }).href;
  await migrate(target, rolePassword, temporal);
  return template;
}

async function migrate(url, rolePassword, temporal) {
  if (!fs.existsSync(bin('migrate'))) return migrateByHand(url, rolePassword);
  const env = {
    ...process.env,
    TEMPER_DATABASE_URL: url,
    TEMPER_API_DB_PASSWORD: rolePassword,
    TEMPER_CONTROL_DB_PASSWORD: rolePassword,
    TEMPER_BMC_DB_PASSWORD: rolePassword,
    TEMPER_BOOT_DB_PASSWORD: rolePassword,
    TEMPER_NOTIFICATIONS_DB_PASSWORD: rolePassword,
    TEMPER_TEMPORAL_ADDRESS: temporal,
    TEMPER_TEMPORAL_NAMESPACE: namespace,
  };
  const answer = await run(process.execPath, [bin('migrate')], { env, timeoutMs: 60_000 });
  if (!answer.ok) throw new Stop(`The test database could not be migrated: ${answer.reason}\n${answer.output}`);
}

/** What the migrate command does, for as long as there is none. */
async function migrateByHand(url, password) {
  const { migrate: apply } = require(path.join(dist, 'inventory', 'migrate.js'));
  const sql = require('postgres')(url, { max: 1, onnotice() {} });
  const roles = ['temper_api', 'temper_control', 'temper_bmc', 'temper_boot', 'temper_notifications'];
  await apply(sql, Object.fromEntries(roles.map((role) => [role, password])));
  await sql.end();
}

async function stopAll() {
  for (const cleanUp of cleanUps) await cleanUp().catch(() => {});
  for (const child of running.reverse()) await child.stop();
  fs.rmSync(dir, { recursive: true, force: true });
}

main(async () => {
  let leave;
  const left = new Promise((resolve) => {
    leave = resolve;
  });
  process.once('disconnect', leave);
  for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.once(name, leave);
  note();
  try {
    await sweepTemporary();
    const [postgresPort, temporalPort] = await freePorts(2);
    const rolePassword = randomBytes(12).toString('hex');
    // Both at once: waiting for one is time for the other.
    const [url, temporal] = await Promise.all([startDatabase(postgresPort), startTemporal(temporalPort)]);
    const template = await makeTemplate(url, rolePassword, temporal);
    const env = {
      TEMPER_TEST_DATABASE_URL: url,
      TEMPER_TEST_TEMPLATE: template,
      TEMPER_TEST_ROLE_PASSWORD: rolePassword,
      TEMPER_TEST_TEMPORAL_ADDRESS: temporal,
    };
    if (process.connected) process.send?.({ env });
    await left;
  } catch (failure) {
    if (process.connected)
      process.send?.({ failed: failure instanceof Stop ? failure.message : String(failure.stack) });
  } finally {
    await stopAll();
  }
  if (process.connected) process.disconnect();
});
