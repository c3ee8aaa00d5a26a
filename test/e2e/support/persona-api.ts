/** A second API of a running system, with rules and callers of its own: every persona of the policy tables has a token there. */
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type PersonaName, personas, type RuleSetName } from '../../../src/policy';
import { start } from '../../bin/support/entries';
import { type Cli, cliOf } from './cli';
import type { System } from './system';

const script = (name: string) => jest.requireActual(`../../../scripts/${name}`);

type Answer = { readonly status: number; readonly says: string; readonly body: ReturnType<typeof JSON.parse> };

export type PersonaApi = {
  /** Its clouds are the personas' names. */
  readonly cli: Cli;
  /** The same system to clients that read clouds.yaml. */
  readonly system: System;
  /** A request that no command line would send. */
  ask(who: PersonaName, method: string, path: string, body?: unknown): Promise<Answer>;
};

const names = Object.keys(personas) as PersonaName[];

const entryOf = (who: PersonaName, token: string) => {
  const { roles, project_id, project_name, system_scope } = personas[who];
  const scope = system_scope ? { system: 'all' } : { project: project_id, project_name };
  return { user: who, token, roles, ...scope };
};

const cloudOf = (endpoint: string, token: string) => ({
  auth_type: 'admin_token',
  auth: { endpoint, token },
  baremetal_endpoint_override: endpoint,
});

/** JSON is YAML. */
const yamlFile = (system: System, name: string, content: unknown): string => {
  const file = join(dirname(system.data), `${name}-${randomBytes(4).toString('hex')}.yaml`);
  writeFileSync(file, JSON.stringify(content), { mode: 0o600 });
  return file;
};

/** The settings of the system's processes, by process, as its supervisor gives them; ports are left to the kernel. */
export const environmentsOf = (system: System): Record<'api' | 'control' | 'migrate', Record<string, string>> => {
  const { postgresUrl: databaseUrl, temporal: temporalAddress } = system.record().addresses as Record<string, string>;
  const secrets = script('lib/secrets').secretsOf(system.data);
  return script('lib/environment').environments({
    ...{ dir: system.data, ports: { api: 0 }, secrets, databaseUrl, temporalAddress, rackSize: 0 },
  });
};

/** What the system's own API is sent, without the port and the people that are ours. */
const settingsOf = (system: System): Record<string, string> => {
  const others = /^TEMPER_(?:IDENTITY_|SUPERVISED$|PUBLIC_ENDPOINT$)/;
  const kept = Object.entries(environmentsOf(system).api).filter(([name]) => !others.test(name));
  return { ...Object.fromEntries(kept), TEMPER_API_PORT: '0' };
};

/** Where it listens, by its own log. */
const portIn = (line: string): number => JSON.parse(line).port;

/** Starts an API from src beside the system's own, on the same stores, with settings of its own. @returns its address */
export const secondApi = async (system: System, settings: Readonly<Record<string, string>>): Promise<string> => {
  const api = start('api', { ...settingsOf(system), ...settings });
  return `http://127.0.0.1:${portIn(await api.says('"message":"listening"'))}`;
};

/**
 * Starts an API from src beside the system's own, on the same stores. It is ended by `endAll` of the entries.
 * @param rules the set, and the policy file's text where there is one
 */
export const personaApi = async (
  system: System,
  rules: { readonly set: RuleSetName; readonly file?: string },
): Promise<PersonaApi> => {
  const tokens = Object.fromEntries(names.map((who) => [who, randomBytes(16).toString('hex')]));
  const policy = join(dirname(system.data), `policy-${randomBytes(4).toString('hex')}.yaml`);
  writeFileSync(policy, rules.file ?? '');
  const url = await secondApi(system, {
    TEMPER_AUTH_STRATEGY: 'static_tokens',
    TEMPER_TOKENS_FILE: yamlFile(system, 'tokens', { tokens: names.map((who) => entryOf(who, tokens[who]!)) }),
    TEMPER_POLICY_SET: rules.set,
    TEMPER_POLICY_FILE: policy,
  });
  const clouds = Object.fromEntries(names.map((who) => [who, cloudOf(url, tokens[who]!)]));
  const file = yamlFile(system, 'clouds', { clouds });
  const record = () => ({ ...system.record(), addresses: { ...system.record().addresses, api: url, clouds: file } });
  const theirs: System = { ...system, record };
  return { cli: cliOf(theirs), system: theirs, ask: (who, ...request) => send(url, tokens[who]!, ...request) };
};

const send = async (url: string, token: string, method: string, path: string, body?: unknown): Promise<Answer> => {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      'X-Auth-Token': token,
      'OpenStack-API-Version': 'baremetal latest',
      'Content-Type': 'application/json',
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const told = text === '' ? null : JSON.parse(text);
  const says = told?.error_message ? String(JSON.parse(told.error_message).faultstring) : '';
  return { status: response.status, says, body: told };
};
