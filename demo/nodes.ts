/** What the demo's people do with nodes, in a word each. */
import type { Json, Person, RackBmc } from './system';

const pollEveryMs = 250;

/** Polls until `found` answers something; the deadline only guards against waiting for ever. */
export const until = async <T>(what: string, withinMs: number, found: () => Promise<T | undefined>): Promise<T> => {
  const deadline = Date.now() + withinMs;
  for (;;) {
    const value = await found();
    if (value !== undefined) return value;
    if (Date.now() > deadline) throw new Error(`waited ${withinMs / 1_000} s in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, pollEveryMs));
  }
};

/** A node's record for a BMC of the rack; every fourth is reached over HTTPS with its self-signed certificate. */
export const recordOf = (bmc: RackBmc, secure: boolean) => ({
  name: bmc.name,
  driver: 'redfish',
  driver_info: {
    redfish_address: secure ? bmc.secureAddress : bmc.address,
    redfish_system_id: bmc.systemId,
    redfish_username: bmc.username,
    redfish_password: bmc.password,
    ...(secure && { redfish_verify_ca: false }),
  },
  resource_class: 'baremetal',
  extra: { rack_bmc: bmc.index },
});

/** Enrols one BMC and its first network port. */
export const enrol = async (operator: Person, bmc: RackBmc): Promise<void> => {
  const node = await operator.must('POST', '/v1/nodes', recordOf(bmc, bmc.index % 4 === 3));
  if (bmc.macs[0]) await operator.must('POST', '/v1/ports', { node_uuid: node.uuid, address: bmc.macs[0] });
};

export const set = (person: Person, node: string, fields: Readonly<Record<string, unknown>>): Promise<Json> =>
  person.must(
    'PATCH',
    `/v1/nodes/${node}`,
    Object.entries(fields).map(([key, value]) => ({ op: 'add', path: `/${key}`, value })),
  );

/** Asks for a verb and answers at once. */
export const ask = (person: Person, node: string, target: string, more: object = {}): Promise<Json> =>
  person.must('PUT', `/v1/nodes/${node}/states/provision`, { target, ...more });

/** Waits until a node rests in a state; a failed state on the way ends the demo with its error. */
export const rests = (person: Person, node: string, state: string, withinMs = 180_000): Promise<void> =>
  until(`${node} to be ${state}`, withinMs, async () => {
    const { provision_state, target_provision_state, last_error } = await person.must(
      'GET',
      `/v1/nodes/${node}/states`,
    );
    if (provision_state === state && target_provision_state === null) return true;
    if (String(provision_state).endsWith('failed') || (provision_state === 'enroll' && last_error))
      throw new Error(`${node} is ${provision_state}: ${last_error}`);
    return undefined;
  }).then(() => undefined);

/** Powers a node on and waits until it is. */
export const powerOn = async (person: Person, node: string, withinMs = 180_000): Promise<void> => {
  await person.must('PUT', `/v1/nodes/${node}/states/power`, { target: 'power on' });
  await until(`${node} to be on`, withinMs, async () => {
    const { power_state, target_power_state, last_error } = await person.must('GET', `/v1/nodes/${node}/states`);
    if (target_power_state === null && last_error) throw new Error(`${node}: ${last_error}`);
    return power_state === 'power on' && target_power_state === null ? true : undefined;
  });
};

/** The newest run of a node, as this person sees it. */
export const newestRun = async (person: Person, node: string): Promise<Json> =>
  (await person.must('GET', `/temper/v1/nodes/${node}/runs?limit=1`)).runs[0];
