/** What tempest needs beside the system: people in a real Keystone, an API that asks it, and its own two files. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { secondApi } from '../e2e/support/persona-api';
import type { System } from '../e2e/support/system';
import { type Keystone, populate } from '../support/keystone';

const region = 'test';

type Person = { readonly role: string; readonly system: boolean; readonly count: number };

/** Who the tests ask for. Each worker holds several at once, of every kind. */
const people: Readonly<Record<string, Person>> = {
  'project-admin': { role: 'admin', system: false, count: 4 },
  'project-member': { role: 'member', system: false, count: 2 },
  'project-reader': { role: 'reader', system: false, count: 2 },
  'system-admin': { role: 'admin', system: true, count: 2 },
  'system-member': { role: 'member', system: true, count: 2 },
  'system-reader': { role: 'reader', system: true, count: 2 },
};

/** Makes the people, all of one project, and answers with tempest's list of accounts. */
const enrol = async (keystone: Keystone): Promise<object[]> => {
  const { makeProject, makeUser, grant } = await populate(keystone);
  await grant('service', await makeUser('temper'), `projects/${await makeProject('service')}`);
  const project = await makeProject('tempest');
  const accounts: object[] = [];
  for (const [kind, { role, system, count }] of Object.entries(people))
    for (let number = 1; number <= count; number++) {
      const username = `${kind}-${number}`;
      await grant(role, await makeUser(username), system ? undefined : `projects/${project}`);
      const scope = system
        ? { system: 'all', user_domain_name: 'Default' }
        : { project_name: 'tempest', domain_name: 'Default' };
      accounts.push({ username, password: `${username}-secret`, roles: [role], ...scope });
    }
  return accounts;
};

/** An API on the system's stores that asks this Keystone, and stands in its catalog. */
const serve = async (system: System, keystone: Keystone, settings: Readonly<Record<string, string>>) => {
  const url = await secondApi(system, {
    ...settings,
    TEMPER_AUTH_STRATEGY: 'keystone',
    TEMPER_IDENTITY_URL: `${keystone.url}/v3`,
    TEMPER_IDENTITY_USERNAME: 'temper',
    TEMPER_IDENTITY_PASSWORD: 'temper-secret',
  });
  const { service } = await keystone.admin('POST', '/services', { service: { type: 'baremetal', name: 'temper' } });
  const endpoint = { service_id: service.id, interface: 'public', region_id: region, url };
  await keystone.admin('POST', '/endpoints', { endpoint });
};

/** tempest.conf, by section. */
const configuration = (keystoneUrl: string, folder: string) => ({
  DEFAULT: { log_dir: join(folder, 'logs') },
  oslo_concurrency: { lock_path: join(folder, 'locks') },
  auth: { use_dynamic_credentials: false, test_accounts_file: join(folder, 'accounts.yaml') },
  identity: { uri_v3: `${keystoneUrl}/v3`, auth_version: 'v3', region },
  service_available: { ironic: true, nova: false, neutron: false, glance: false, cinder: false, swift: false },
  enforce_scope: { ironic: true },
  // Seconds.
  compute: { build_interval: 1, build_timeout: 60 },
  baremetal: {
    driver: 'fake-hardware',
    use_provision_network: false,
    min_microversion: '1.1',
    max_microversion: 'latest',
    enabled_hardware_types: 'fake-hardware,ipmi',
    power_timeout: 60,
    unprovision_timeout: 60,
  },
});

const ini = (sections: Readonly<Record<string, object>>): string =>
  Object.entries(sections)
    .flatMap(([name, rows]) => [`[${name}]`, ...Object.entries(rows).map(([key, value]) => `${key} = ${value}`), ''])
    .join('\n');

/**
 * Prepares everything in a folder of its own.
 * @param settings of the API, beside those that follow from the system
 * @returns the environment that tempest runs in
 */
export const prepareTempest = async (
  system: System,
  keystone: Keystone,
  folder: string,
  settings: Readonly<Record<string, string>>,
): Promise<Record<string, string>> => {
  for (const name of ['logs', 'locks']) mkdirSync(join(folder, name), { recursive: true });
  const accounts = await enrol(keystone);
  await serve(system, keystone, settings);
  // JSON is YAML.
  writeFileSync(join(folder, 'accounts.yaml'), JSON.stringify(accounts), { mode: 0o600 });
  writeFileSync(join(folder, 'tempest.conf'), ini(configuration(keystone.url, folder)));
  return { TEMPEST_CONFIG_DIR: folder, TEMPEST_CONFIG: 'tempest.conf' };
};
