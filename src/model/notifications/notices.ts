/** The notifications that Ironic sends for an event of the feed, in their order. */
import { asDocument, type Document } from '../document';
import type { EventKind } from '../resources/event-kinds';
import type { Notice, Noticed, NoticedEvent, NotifiedTable } from './notice';
import type { PayloadKind } from './payloads';
import { powerNotices, startedPower } from './power';
import { provisionNotices } from './provision';

const resources = {
  port: { object: 'port', table: 'ports', payload: 'port' },
  portgroup: { object: 'portgroup', table: 'portgroups', payload: 'portgroup' },
  chassis: { object: 'chassis', table: 'chassis', payload: 'chassis' },
  allocation: { object: 'allocation', table: 'allocations', payload: 'allocation' },
  volume_connector: { object: 'volumeconnector', table: 'volume_connectors', payload: 'volumeConnector' },
  volume_target: { object: 'volumetarget', table: 'volume_targets', payload: 'volumeTarget' },
  deploy_template: { object: 'deploytemplate', table: 'deploy_templates', payload: 'deployTemplate' },
  node: { object: 'node', table: 'nodes', payload: 'nodeChange' },
} as const satisfies Readonly<Record<string, { object: string; table: NotifiedTable; payload: PayloadKind }>>;

const recordActs = { created: 'create', updated: 'update', deleted: 'delete' } as const;

/** A start and an end, because the feed has one event for a change. */
const around = (
  notice: Omit<Notice, 'type' | 'level'>,
  what: string,
  first: Pick<Notice, 'values' | 'only'> = notice,
): Notice[] => [
  { ...notice, ...first, type: `${what}.start`, level: 'info' },
  { ...notice, type: `${what}.end`, level: 'info' },
];

/** Names that the caller gave, in whichever form the event has them. */
const givenNames = ({ given, changed, ...data }: Document): string[] => {
  if (Array.isArray(changed)) return changed.map(String);
  return Object.keys(given === undefined ? data : asDocument(given));
};

// An allocation has no node yet when its request is answered, unless the request names it.
const asCreated = (what: keyof typeof resources, data: Document): Document => {
  const isNew = { updated_at: null };
  if (what === 'allocation')
    return {
      ...isNew,
      state: data.node_uuid ? 'active' : 'allocating',
      node_uuid: data.node_uuid ?? null,
      last_error: null,
    };
  return what === 'node'
    ? {
        ...isNew,
        provision_updated_at: null,
        power_state: null,
        target_power_state: null,
        target_provision_state: null,
        last_error: null,
      }
    : isNew;
};

const recordNotices = (
  what: keyof typeof resources,
  act: keyof typeof recordActs,
  { data }: NoticedEvent,
): Notice[] => {
  const { object, payload } = resources[what];
  const values = act === 'created' ? asCreated(what, data) : {};
  const notice = { service: 'ironic-api', payload, values } as const;
  const type = `${object}.${recordActs[act]}`;
  if (act !== 'created') return around(notice, type);
  const only = ['uuid', 'node_uuid', 'provision_state', 'conductor_group', ...givenNames(data)];
  const start = { ...values, created_at: null, ...(what === 'allocation' && { state: null }) };
  return around(notice, type, { values: start, only });
};

const ofNode: Partial<Record<EventKind, (event: NoticedEvent) => Notice[]>> = {
  'node.traits.set': () => around({ service: 'ironic-api', payload: 'nodeChange', values: {} }, 'node.update'),
  'node.maintenance.set': ({ data }) => maintenance(true, data),
  'node.maintenance.cleared': ({ data }) => maintenance(false, data),
  'node.console.set': ({ data: { console_enabled } }) =>
    around({ service: 'ironic-conductor', payload: 'node', values: { console_enabled } }, 'node.console_set', {
      values: { console_enabled: console_enabled !== true },
    }),
};

const maintenance = (set: boolean, { maintenance_reason }: Document): Notice[] => {
  const values = { maintenance: set, maintenance_reason: maintenance_reason ?? null };
  return around({ service: 'ironic-api', payload: 'node', values }, 'node.maintenance_set');
};

const onNode = (event: NoticedEvent): Notice[] => [
  ...(ofNode[event.kind]?.(event) ?? []),
  ...startedPower(event),
  ...provisionNotices(event),
  ...powerNotices(event),
];

/** Owner and lessee as they were. */
const homed = (notice: Notice, { project, lessee }: NoticedEvent): Notice => ({
  ...notice,
  values: { owner: project, lessee, ...notice.values },
});

const recordKind = /^([a-z_]+)\.(created|updated|deleted)$/;

/** Undefined if Ironic has no notification of it. */
export const noticesOf = (event: NoticedEvent): Noticed | undefined => {
  const [, what, act] = recordKind.exec(event.kind) ?? [];
  if (what !== undefined && Object.hasOwn(resources, what)) {
    const name = what as keyof typeof resources;
    const uuid = name === 'node' ? event.node_uuid : event.data[`${name}_uuid`];
    const notices = recordNotices(name, act as keyof typeof recordActs, event);
    return typeof uuid === 'string' ? { table: resources[name].table, uuid, notices } : undefined;
  }
  const notices = event.node_uuid === null ? [] : onNode(event);
  return notices.length === 0
    ? undefined
    : { table: 'nodes', uuid: event.node_uuid!, notices: notices.map((one) => homed(one, event)) };
};
