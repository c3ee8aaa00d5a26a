/** ironic-tempest-plugin's API tests, as they are, against a whole system with a real Keystone in front of it. */
import { dirname, join } from 'node:path';
import { endAll } from '../bin/support/entries';
import { type System, startSystem } from '../e2e/support/system';
import { suiteOf } from '../support/found';
import { type Keystone, keystoneMissing, startKeystone } from '../support/keystone';
import { callsAnswered, endSuites, namesOf, runSuite, suitesMissing, summary, unexpected } from '../support/suites';
import { tempestFails, tempestSkips } from './tempest-known';
import { prepareTempest } from './tempest-world';

const missing = suitesMissing ?? keystoneMissing;
const whenThere = suiteOf('ironic-tempest-plugin', missing);

const { freePort } = jest.requireActual('../../scripts/lib/ports') as { freePort(): Promise<number> };

whenThere('ironic-tempest-plugin', () => {
  let system: System;
  let keystone: Keystone;
  let env: Record<string, string>;
  let folder: string;
  let health: string;

  beforeAll(async () => {
    [system, keystone] = await Promise.all([startSystem(0), startKeystone()]);
    folder = join(dirname(system.data), 'tempest');
    const port = await freePort();
    health = `http://127.0.0.1:${port}`;
    env = await prepareTempest(system, keystone, folder, { TEMPER_HEALTH_PORT: String(port) });
  });
  afterAll(async () => {
    endSuites();
    await endAll();
    await keystone?.close();
    await system?.stop();
  });

  test('has all its API tests pass but those on the list', async () => {
    const tests = 'ironic_tempest_plugin.tests.api';
    const begun = Date.now();
    const verdicts = await runSuite({ tests, folder: join(folder, 'run'), env, concurrency: 2 });
    process.stdout.write(
      `${summary('ironic-tempest-plugin 3.2.0', verdicts, await callsAnswered(health), Date.now() - begun)}\n`,
    );
    expect(unexpected(verdicts, tempestFails)).toBe('');
    expect(namesOf(verdicts, 'fail', 'uxsuccess')).toEqual(Object.keys(tempestFails).sort());
    expect(namesOf(verdicts, 'skip')).toEqual(Object.keys(tempestSkips).sort());
  }, 600_000);
});
