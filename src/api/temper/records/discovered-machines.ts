/** Routes of discovered machines, which reported themselves. Operators list, enrol, refuse or remove them; tenants see none. */

import { z } from 'zod';
import { document } from '../../../admission/schemas';
import type { Queries } from '../../../inventory';
import type { DiscoveredMachine, DiscoveredWhole } from '../../../inventory/discovered-machines';
import type { NodeRow } from '../../../inventory/nodes/nodes';
import { discoveredStates } from '../../../model/boot/discovery';
import { raise } from '../../../model/errors';
import { maxMinor } from '../../../model/resources/microversions';
import { nodeTable } from '../../../model/resources/nodes';
import { portTable } from '../../../model/resources/ports';
import * as shapes from '../../../wire/records';
import { auditAndEvent, auditedWrite, type Change, resourceChange } from '../../audit/record';
import type { ApiContext } from '../../context';
import { refusingDuplicates } from '../../resource/duplicates';
import { markedRecord, readPage, uuidPage } from '../../resource/own-pages';
import { createSchema, uuid } from '../../resource/validation';
import { withDefaults } from '../../resource/values';
import { type ApiRequest, created, noContent, ok, type Route, route } from '../../server/route';
import { type CreateRequest, createRule, nodeGiven } from '../../v1/nodes/create';
import { moveCredentials } from '../../v1/nodes/credentials';
import { allKeyRules } from '../../v1/nodes/guarded-keys';

const path = '/temper/v1/discovered-machines';
const rules = {
  get: 'temper:discovered_machine:get',
  enroll: 'temper:discovered_machine:enroll',
  refuse: 'temper:discovered_machine:refuse',
  delete: 'temper:discovered_machine:delete',
} as const;

const params = z.object({ machine: uuid });
type Params = z.output<typeof params>;
const page = z.strictObject({ state: z.enum(discoveredStates).optional(), ...uuidPage });
const refusalBody = z.strictObject({ reason: z.string().trim().min(1).max(1_000) });

const nodeSchema = createSchema(nodeTable);
const enrolment = z
  .strictObject({
    /** The revision that the operator has read. */
    revision: z.string().max(64),
    name: z.string().optional(),
    driver: z.string(),
    driver_info: document.default({}),
    properties: document.default({}),
    resource_class: z.string().max(80).optional(),
    conductor_group: z.string().max(255).optional(),
    owner: z.string().max(255).optional(),
  })
  .superRefine(({ revision: _, ...node }, context) => {
    for (const { path, message } of nodeSchema.safeParse(node).error?.issues ?? [])
      context.addIssue({ code: 'custom', path, message });
  });
type Enrolment = z.output<typeof enrolment>;
type EnrolRequest = ApiRequest<Params, unknown, Enrolment>;

const viewOf = <Row extends DiscoveredMachine>(row: Row) => ({
  ...row,
  first_seen_at: row.first_seen_at.toISOString(),
  last_seen_at: row.last_seen_at.toISOString(),
});

const found = async (store: Queries, machine: string, lock = false): Promise<DiscoveredWhole> =>
  (await store.discoveredMachines.find(machine, { lock })) ?? raise('DiscoveredMachineNotFound', { machine });

const happened = { enroll: 'enrolled', refuse: 'refused', delete: 'deleted' } as const;

const changeOf = (act: 'enroll' | 'refuse' | 'delete', { uuid: resource_id, macs }: DiscoveredMachine, data = {}) =>
  ({
    action: `discovered_machine.${act}`,
    kind: `discovered_machine.${happened[act]}`,
    rule: rules[act],
    resource: 'discovered_machine',
    resource_id,
    data: { macs, ...data },
  }) satisfies Change;

const listMachines = route({
  method: 'GET',
  path,
  answers: { 200: shapes.discoveredMachines },
  asks: rules.get,
  rules: [rules.get],
  query: page,
  async handler(request, ctx) {
    const { marker, state } = request.query;
    ctx.policy().require(rules.get, request.who);
    const { discoveredMachines } = ctx.inventory;
    const after = await markedRecord(marker, (machine) => discoveredMachines.find(machine));
    const read = (limit: number) => discoveredMachines.list({ state, limit, after: after?.uuid });
    const { rows, next } = await readPage(request, path, read, ({ uuid }) => uuid);
    return ok({ discovered_machines: rows.map(viewOf), ...next });
  },
});

const showRoute = route({
  method: 'GET',
  path: `${path}/:machine`,
  params,
  answers: { 200: shapes.discoveredWhole },
  asks: rules.get,
  rules: [rules.get],
  async handler({ who, params: { machine } }, ctx) {
    ctx.policy().require(rules.get, who);
    return ok(viewOf(await found(ctx.inventory, machine)));
  },
});

const refuseRoute = route({
  method: 'POST',
  path: `${path}/:machine/refuse`,
  params,
  body: refusalBody,
  answers: { 200: shapes.discoveredWhole },
  asks: rules.refuse,
  rules: [rules.refuse],
  async handler(request, ctx) {
    const { machine } = request.params;
    const { reason } = request.body;
    ctx.policy().require(rules.refuse, request.who);
    const write = async (store: Queries) => {
      await store.discoveredMachines.refuse(machine, reason);
      return found(store, machine);
    };
    return ok(viewOf(await auditedWrite(ctx, request, write, (row) => changeOf('refuse', row, { reason }))));
  },
});

const deleteRoute = route({
  method: 'DELETE',
  path: `${path}/:machine`,
  params,
  asks: rules.delete,
  rules: [rules.delete],
  async handler(request, ctx) {
    const { machine } = request.params;
    ctx.policy().require(rules.delete, request.who);
    const write = async (store: Queries) => {
      const row = await found(store, machine, true);
      await store.discoveredMachines.delete(machine);
      return row;
    };
    await auditedWrite(ctx, request, write, (row) => changeOf('delete', row));
    return noContent();
  },
});

/** Locks the record. Throws Conflict if it was refused, is contested or has changed since the operator read it. */
const enrollable = async (store: Queries, { params: { machine }, body: { revision } }: EnrolRequest) => {
  const row = await found(store, machine, true);
  const reason =
    row.state === 'refused'
      ? 'The machine was refused; remove its record, and it is recorded again when it reports itself again.'
      : row.contested
        ? 'Another record has one of its MAC addresses; refuse or remove the one that is not the machine.'
        : row.revision !== revision
          ? 'The machine has reported itself otherwise since; read its record again.'
          : undefined;
  return reason === undefined ? row : raise('Conflict', { reason });
};

/** One port per network card. Only the boot card gets pxe_enabled, or all if the machine reported none. */
const addPorts = async (
  store: Queries,
  ctx: ApiContext,
  request: EnrolRequest,
  node: NodeRow,
  row: DiscoveredMachine,
) => {
  for (const address of row.macs) {
    const pxe_enabled = row.boot_mac === null || row.boot_mac === address;
    const values = withDefaults(portTable, { address, pxe_enabled, node_uuid: node.uuid });
    const port = await refusingDuplicates(portTable, values, () => store.ports.insert(values));
    const write = { resource: 'port', act: 'create', rule: rules.enroll, uuid: port.uuid, node, values } as const;
    await auditAndEvent(store, ctx.policy(), request, resourceChange({ ...write, facts: { address } }));
  }
};

/** The reported architecture is a default; the operator's properties override it. */
const nodeRequest = (request: EnrolRequest, { arch }: DiscoveredMachine): CreateRequest => {
  const { revision: _, properties, ...given } = request.body;
  const body = { ...given, properties: { ...(arch !== null && { cpu_arch: arch }), ...properties } };
  return { ...request, version: maxMinor, body };
};

const enrol = async (request: EnrolRequest, ctx: ApiContext): Promise<NodeRow> => {
  const seen = await found(ctx.inventory, request.params.machine);
  const admitted = { rule: createRule, owner: request.body.owner };
  const store = await nodeGiven(ctx, nodeRequest(request, seen), admitted);
  return ctx.inventory.transaction(async (inventory) => {
    const row = await enrollable(inventory, request);
    const node = await store(inventory.nodes);
    await addPorts(inventory, ctx, request, node, row);
    await inventory.details.write(node.uuid, { inventory: row.inventory, plugin_data: {} });
    await inventory.discoveredMachines.delete(row.uuid);
    await auditAndEvent(inventory, ctx.policy(), request, changeOf('enroll', row, { node_uuid: node.uuid }));
    return node;
  });
};

const enrollRoute = route({
  method: 'POST',
  path: `${path}/:machine/enroll`,
  params,
  body: enrolment,
  madeIn: '/v1/nodes',
  answers: { 201: shapes.enrolledMachine },
  asks: rules.enroll,
  rules: [rules.enroll, createRule, ...allKeyRules, moveCredentials],
  async handler(request, ctx) {
    ctx.policy().require(rules.enroll, request.who);
    ctx.policy().require(createRule, request.who);
    const node = await enrol(request, ctx);
    const { uuid: node_uuid, name, provision_state } = node;
    return created({ node_uuid, name, provision_state }, `${request.base}/v1/nodes/${node_uuid}`);
  },
});

export const discoveredMachineRoutes: Route[] = [listMachines, showRoute, enrollRoute, refuseRoute, deleteRoute];
