/** A Temporal dev server of our own, described so that a supervisor can run it, and how to tell that one is ready. */

const fs = require('node:fs');
const path = require('node:path');
const { answers } = require('./ports');
const { devServerArgs, namespace, searchAttributes } = require('./temporal-settings');
const { findTemporal } = require('./temporal-binary');

/**
 * @param {{port: number, uiPort?: number, file?: string}} wish see `devServerArgs`
 * @returns {Promise<import('./child').ChildSpec & {address: string}>}
 */
async function prepareTemporal(wish) {
  const command = await findTemporal();
  const address = `127.0.0.1:${wish.port}`;
  // Its file holds the input and the history of every run.
  const umask = 0o077;
  return { name: 'temporal', command, args: devServerArgs(wish), umask, ready: () => isReady(address), address };
}

/**
 * Whether the server knows our namespace and, if it is a dev server of ours, all search attributes; on any other server
 * the migrate command registers them.
 */
async function isReady(address, { ours = true } = {}) {
  const [host, port] = splitAddress(address);
  if (!(await answers(port, host))) return false;
  const { Connection } = require('@temporalio/client');
  let connection;
  try {
    connection = await Connection.connect({ address, connectTimeout: '2s' });
    await connection.workflowService.describeNamespace({ namespace });
    if (!ours) return true;
    const known = await connection.operatorService.listSearchAttributes({ namespace });
    return Object.keys(searchAttributes()).every((name) => name in known.customAttributes);
  } catch {
    return false;
  } finally {
    await connection?.close();
  }
}

/** Where Temporal's file is, in a folder that is its owner's alone; one of an earlier release moves there. */
function temporalFile(dir) {
  const folder = path.join(dir, 'temporal');
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
  fs.chmodSync(folder, 0o700);
  for (const name of ['temporal.db', 'temporal.db-wal', 'temporal.db-shm']) {
    const before = path.join(dir, name);
    const now = path.join(folder, name);
    if (fs.existsSync(before)) fs.renameSync(before, now);
    if (fs.existsSync(now)) fs.chmodSync(now, 0o600);
  }
  return path.join(folder, 'temporal.db');
}

/** Host and port of `host:port`. */
function splitAddress(address) {
  const colon = address.lastIndexOf(':');
  return [address.slice(0, colon), Number(address.slice(colon + 1))];
}

module.exports = { isReady, prepareTemporal, temporalFile };
