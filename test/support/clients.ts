/** The real OpenStack clients, for tests: where their commands are, or why they are not there. */
import { join } from 'node:path';

/** Why the clients could not be installed; undefined when they are there. */
export const clientsMissing = (): string | undefined =>
  process.env.TEMPER_TEST_CLIENTS_BIN
    ? undefined
    : (process.env.TEMPER_TEST_CLIENTS_MISSING ?? 'the tier of this test installs no clients (jest.config.js)');

/**
 * Path of a command of the clients' environment: `baremetal`, `openstack`, `python`.
 * @throws Error that says why it is not there
 */
export const clientCommand = (name: string): string => {
  const bin = process.env.TEMPER_TEST_CLIENTS_BIN;
  if (!bin) throw new Error(`The OpenStack clients are not installed: ${clientsMissing()}`);
  return join(bin, name);
};

/** Path of the `baremetal` command line client. */
export const baremetalCli = (): string => clientCommand('baremetal');
