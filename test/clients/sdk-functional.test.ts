/** openstacksdk's own functional tests of bare metal, as they are, against a whole system with the demo's people. */
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type System, startSystem } from '../e2e/support/system';
import { suiteOf } from '../support/found';
import { callsAnswered, endSuites, namesOf, runSuite, suitesMissing, summary, unexpected } from '../support/suites';

const whenThere = suiteOf("openstacksdk's functional tests", suitesMissing);

/** Test -> why it fails; one that begins to pass must leave the list. */
const fails: Readonly<Record<string, string>> = {};

const inProject = (name: string) => ({ project_name: name, project_domain_id: 'default' });

/** The clouds that the suite asks for -> who of the demo they are, and where. */
const clouds = {
  'devstack-admin': ['operator', inProject('admin')],
  'devstack-system-admin': ['operator', { system_scope: 'all' }],
  devstack: ['owner-member', inProject('owner-project')],
  'devstack-alt': ['lessee-member', inProject('lessee-project')],
} as const;

const cloudsOf = (identityUrl: string) =>
  Object.fromEntries(
    Object.entries(clouds).map(([name, [username, scope]]) => {
      const who = { auth_url: identityUrl, username, password: `demo-${username}`, user_domain_id: 'default' };
      return [name, { auth_type: 'password', auth: { ...who, ...scope }, region_name: 'demo', interface: 'public' }];
    }),
  );

/** Where the system's API serves its metrics, by its own log. */
const healthOf = (system: System): string => {
  const ports = readFileSync(join(system.logs, 'api.log'), 'utf8').matchAll(/"port":(\d+),"message":"health"/g);
  return `http://127.0.0.1:${[...ports].at(-1)![1]}`;
};

whenThere("openstacksdk's functional tests", () => {
  let system: System;
  let file: string;

  beforeAll(async () => {
    // The suite enrols nodes as the admin of a project, which Ironic allows unless it is set otherwise.
    system = await startSystem(0, { TEMPER_PROJECTS_MAY_ENROL: 'true' });
    file = join(dirname(system.data), 'clouds.yaml');
    // JSON is YAML.
    writeFileSync(file, JSON.stringify({ clouds: cloudsOf(system.record().addresses.identity) }), { mode: 0o600 });
  });
  afterAll(async () => {
    endSuites();
    await system?.stop();
  });

  test('of bare metal all pass but those on the list', async () => {
    const begun = Date.now();
    const verdicts = await runSuite({
      tests: 'openstack.tests.functional.baremetal.v1',
      folder: join(dirname(system.data), 'sdk'),
      // Seconds.
      env: { OS_CLIENT_CONFIG_FILE: file, OS_CLOUD: 'devstack-admin', OS_TEST_TIMEOUT: '120', OS_LOG_CAPTURE: '1' },
      concurrency: 2,
    });
    process.stdout.write(
      `${summary('openstacksdk 4.22.0', verdicts, await callsAnswered(healthOf(system)), Date.now() - begun)}\n`,
    );
    expect(unexpected(verdicts, fails)).toBe('');
    expect(namesOf(verdicts, 'fail', 'uxsuccess')).toEqual(Object.keys(fails).sort());
    expect(namesOf(verdicts, 'skip')).toEqual([]);
  }, 400_000);
});
