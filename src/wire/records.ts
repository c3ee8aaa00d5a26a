/** Answer schemas of records: budgets, windows, webhooks, images, ramdisks, discovered machines and freezes. */
import { z } from 'zod';
import { masked } from '../model/access/secrets';
import { count, id, list, maybe, maybeTime, pageOf, person, text, time, trueOrFalse } from './parts';

const amount = z.union([count, text]);

export const disruptionBudget = z.strictObject({
  uuid: id,
  project: text,
  query: z.record(text, list(text)),
  max_unavailable: amount.nullable(),
  min_available: amount.nullable(),
  description: maybe,
  nodes: count,
  unavailable: count,
  may_be_taken: count,
  created_at: time,
  updated_at: maybeTime,
  links: z.strictObject({ self: text }),
});
export type DisruptionBudget = z.output<typeof disruptionBudget>;
export const projectWindow = z.strictObject({
  uuid: id,
  project: text,
  name: text,
  days: list(text),
  from: text,
  minutes: count,
  zone: text,
  open: trueOrFalse,
  opens_at: time,
  closes_at: time,
  created_at: time,
  links: z.strictObject({ self: text }),
});
export type ProjectWindow = z.output<typeof projectWindow>;
export const webhook = z.strictObject({
  uuid: id,
  project: maybe,
  url: text,
  kinds: list(text),
  enabled: trueOrFalse,
  description: maybe,
  secret: z.literal(masked),
  created_at: time,
  updated_at: maybeTime,
  links: z.strictObject({ self: text, deliveries: text }),
});
export type Webhook = z.output<typeof webhook>;

export const ramdisk = z.strictObject({
  uuid: id,
  name: text,
  arch: text,
  args: text,
  kernel_sha256: maybe,
  initrd_sha256: maybe,
  iso_sha256: text,
  iso_bytes: count,
  arguments_at: count,
  arguments_bytes: count,
  files_at: count,
  files_bytes: count,
  created_at: time,
});
export type Ramdisk = z.output<typeof ramdisk>;

const discoveredFields = {
  uuid: id,
  state: text,
  macs: list(text),
  boot_mac: maybe,
  arch: maybe,
  bmc_address: maybe,
  vendor: maybe,
  product: maybe,
  serial: maybe,
  sender: text,
  revision: text,
  reports: count,
  reason: maybe,
  contested: trueOrFalse,
  first_seen_at: time,
  last_seen_at: time,
};
const discoveredMachine = z.strictObject(discoveredFields);
export type DiscoveredMachine = z.output<typeof discoveredMachine>;
export const discoveredMachines = pageOf('discovered_machines', discoveredMachine);
export const discoveredWhole = z.strictObject({ ...discoveredFields, inventory: z.record(z.string(), z.unknown()) });
export const enrolledMachine = z.strictObject({ node_uuid: id, name: maybe, provision_state: text });
export type EnrolledMachine = z.output<typeof enrolledMachine>;

export const image = z.strictObject({
  uuid: id,
  name: text,
  url: maybe,
  sha256: text,
  bytes: count,
  disk_format: text,
  kind: text,
  created_at: time,
});
export type Image = z.output<typeof image>;

const delivery = z.strictObject({
  uuid: id,
  event_seq: count,
  kind: text,
  state: z.enum(['pending', 'delivered', 'failed']),
  attempts: count,
  status: count.nullable(),
  error: maybe,
  next_at: maybeTime,
  created_at: time,
  finished_at: maybeTime,
});
export type Delivery = z.output<typeof delivery>;
export const deliveries = pageOf('deliveries', delivery);

export const freeze = z.strictObject({
  uuid: id,
  node_uuid: id,
  node_name: maybe,
  reason: text,
  requester: person,
  created_at: time,
  until: maybeTime,
  active: trueOrFalse,
  ended_at: maybeTime,
  ended_by: person.nullable(),
});
export type Freeze = z.output<typeof freeze>;
export const freezes = pageOf('freezes', freeze);
