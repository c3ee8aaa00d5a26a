/** TCP ports on the loopback address: free ones, and the well-known ones a setting can move. */

const { randomInt } = require('node:crypto');
const net = require('node:net');
const { tryLock } = require('./lock');
const { cacheDir } = require('./paths');
const { Stop } = require('./say');

const host = '127.0.0.1';

function listen(port) {
  return new Promise((resolve, reject) => {
    const server = net.createServer();
    server.once('error', reject);
    server.listen(port, host, () => resolve(server));
  });
}

const close = (server) => new Promise((resolve) => server.close(resolve));

// Below the range from which the system serves outgoing connections (Linux: 32768 and up): a port from that range may be
// taken by anybody's connection between its choice and its use.
const range = { from: 20_000, to: 32_000 };

/** @type {(() => void)[]} */
const claims = [];
process.once('exit', () => {
  for (const release of claims) release();
});

/**
 * Keeps a port for this process until it ends: between its choice and its use, which is seconds later, another system that is
 * starting on this machine must not choose it as well.
 * @param {number} port
 */
function claim(port) {
  try {
    const lock = tryLock(cacheDir('ports', String(port)));
    if (lock.held) claims.push(lock.release);
    return lock.held;
  } catch {
    return true; // no place for a claim: the port is as free as it looks
  }
}

/** Listens on a free port of the range that no other process has claimed. Where none of many tries is free, the system chooses. */
async function listenSomewhere() {
  for (let tried = 0; tried < 100; tried++) {
    try {
      const port = randomInt(range.from, range.to);
      const server = await listen(port);
      if (claim(port)) return server;
      await close(server);
    } catch (failure) {
      if (failure.code !== 'EADDRINUSE' && failure.code !== 'EACCES') throw failure;
    }
  }
  return listen(0);
}

/** Different free ports; all are held until all are known, so that none comes twice. */
async function freePorts(count) {
  const servers = await Promise.all(Array.from({ length: count }, listenSomewhere));
  const ports = servers.map((server) => server.address().port);
  await Promise.all(servers.map(close));
  return ports;
}

const freePort = async () => (await freePorts(1))[0];

/** Whether somebody could listen on the port now. */
async function isFree(port) {
  try {
    await close(await listen(port));
    return true;
  } catch {
    return false;
  }
}

/** Whether something answers on the port. */
function answers(port, address = host) {
  return new Promise((resolve) => {
    const socket = net.connect({ port, host: address, timeout: 1_000 });
    const done = (result) => () => {
      socket.destroy();
      resolve(result);
    };
    socket.on('connect', done(true)).on('error', done(false)).on('timeout', done(false));
  });
}

/** The ports of `npm start` that people and clients know, each with the setting that moves it. */
const wellKnown = {
  api: { setting: 'TEMPER_API_PORT', port: 6385 },
  boot: { setting: 'TEMPER_BOOT_PORT', port: 6386 },
  console: { setting: 'TEMPER_CONSOLE_PORT', port: 6380 },
  identity: { setting: 'TEMPER_IDENTITY_PORT', port: 5000 },
  temporal: { setting: 'TEMPER_TEMPORAL_PORT', port: 7233 },
  temporalUi: { setting: 'TEMPER_TEMPORAL_UI_PORT', port: 8233 },
  rackHttp: { setting: 'TEMPER_RACK_HTTP_PORT', port: 8000 },
  rackHttps: { setting: 'TEMPER_RACK_HTTPS_PORT', port: 8443 },
  rackControl: { setting: 'TEMPER_RACK_CONTROL_PORT', port: 8001 },
};

/**
 * The well-known ports as set; a taken one is named together with the setting to change.
 * @param {Record<string, {setting: string, port: number}>} table
 * @returns {Promise<Record<string, number>>} by name
 */
async function claimPorts(table, env = process.env) {
  /** @type {Record<string, number>} */
  const ports = {};
  const taken = [];
  for (const [name, { setting, port }] of Object.entries(table)) {
    const chosen = env[setting] ? Number(env[setting]) : port;
    if (!Number.isInteger(chosen) || chosen < 1 || chosen > 65_535) {
      throw new Stop(`${setting} is "${env[setting]}"; it must be a port number.`);
    }
    if (Object.values(ports).includes(chosen) || !(await isFree(chosen))) taken.push({ setting, chosen });
    ports[name] = chosen;
  }
  if (taken.length > 0) {
    const each = taken.map(({ setting, chosen }) => `  port ${chosen} is taken; choose another with ${setting}=<port>`);
    throw new Stop(`Not started:\n${each.join('\n')}`);
  }
  return ports;
}

/**
 * A free port for every name of a table, for systems that must not meet another.
 * @param {string[]} names
 * @returns {Promise<Record<string, number>>} by name
 */
async function freePortsFor(names) {
  const ports = await freePorts(names.length);
  return Object.fromEntries(names.map((name, index) => [name, ports[index]]));
}

module.exports = { answers, claimPorts, freePort, freePorts, freePortsFor, host, isFree, wellKnown };
