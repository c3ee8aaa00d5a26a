/** POST /v1/nodes: enrols a node. */

import { randomUUID } from 'node:crypto';
import { checkDriverInfo, requireDriver } from '../../../admission/driver-info';
import type { Queries } from '../../../inventory';
import type { NodeRow, NodeValues } from '../../../inventory/nodes/nodes';
import { bmcSideOf } from '../../../model/access/bmc-sides';
import type { Caller } from '../../../model/access/callers';
import { raise } from '../../../model/errors';
import { emptyValue } from '../../../model/resources/fields';
import { displayName, firstState, nodeTable } from '../../../model/resources/nodes';
import { nodeTarget, type Policy } from '../../../policy';
import { changeRows } from '../../audit/record';
import type { ApiContext } from '../../context';
import { restoreSecrets, type Sealed, sealAll, type ValuesOf } from '../../resource/document-secrets';
import { refusingDuplicates } from '../../resource/duplicates';
import { createGate, createSchema } from '../../resource/validation';
import { type ApiRequest, created, type Route, route } from '../../server/route';
import { checkBmcAddress } from './bmc-address';
import { checkForms, checkInterfaces, checkName, defaultInterfaces, parentUuid } from './checks';
import { checkCaPath, moveCredentials } from './credentials';
import { allKeyRules, requireKeys, selfOwned } from './guarded-keys';
import { nodeProjections, shownTo } from './representation';

type CreateBody = Readonly<Record<string, unknown>>;
export type CreateRequest = ApiRequest<unknown, unknown, CreateBody>;

export const createRule = 'baremetal:node:create';
const setChassis = 'baremetal:node:update:chassis_uuid';

/** Fields whose secrets are stored separately. */
export const sealedFields = ['driver_info', 'instance_info'] as const;

/** Defaults of a node. */
const defaults: NodeValues = Object.fromEntries(
  nodeTable.fields.filter((row) => row.create === 'optional').map((row) => [row.name, emptyValue(row)]),
);

/** Operators enrol any node. If the setting allows it, a project's admin enrols nodes for this project. */
const admit = (policy: Policy, who: Caller, ownAllowed: boolean, owner: unknown): { rule: string; owner: unknown } => {
  if (
    ownAllowed &&
    who.system_scope === null &&
    !policy.allows(createRule, who) &&
    policy.allows(selfOwned, who, { 'node.owner': who.project_id })
  ) {
    if (owner !== undefined && owner !== null && owner !== who.project_id)
      raise('InvalidInput', { field: 'owner', reason: 'a project may enrol nodes for itself only' });
    return { rule: selfOwned, owner: who.project_id };
  }
  policy.require(createRule, who);
  return { rule: createRule, owner };
};

/** A reason needs its flag. */
export const checkReasons = (values: CreateBody): void => {
  for (const flag of ['retired', 'protected'])
    if (values[`${flag}_reason`] && values[flag] !== true)
      raise('InvalidInput', { field: `${flag}_reason`, reason: `needs ${flag} to be true` });
};

/** The instance's display name, for nodes without a name. */
const instanceName = (values: CreateBody): unknown => values.instance_name ?? displayName(values.instance_info);

/** The values of an enrolled node. */
type NewNode = NodeValues & { readonly uuid: string };

const completed = async (ctx: ApiContext, request: CreateRequest, owner: unknown): Promise<NewNode> => {
  const { body, version } = request;
  checkName(body.name, version);
  const driver = requireDriver(body.driver);
  checkForms(body);
  checkReasons(body);
  checkInterfaces(driver, body);
  const info = (body.driver_info ?? {}) as CreateBody;
  checkDriverInfo(String(body.name ?? body.uuid ?? 'of this request'), driver, info, { missing: false });
  const home = { owner: (owner as string | null) ?? null, lessee: (body.lessee as string | null) ?? null };
  requireKeys(ctx, request.who, { driver, ...home }, body);
  const may = () => ctx.policy().allows(moveCredentials, request.who, nodeTarget(home));
  checkCaPath(may, undefined, { driver, driver_info: info });
  await checkBmcAddress(ctx.settings, driver, info);
  for (const name of sealedFields) restoreSecrets(name, body[name] ?? {}, {});
  return {
    ...defaults,
    ...body,
    ...defaultInterfaces(driver, body),
    owner: owner ?? null,
    uuid: String(body.uuid ?? randomUUID()),
    parent_node: body.parent_node
      ? await parentUuid(ctx, request, String(body.parent_node), { owner: (owner as string | null) ?? null })
      : null,
    instance_name: instanceName(body),
    provision_state: firstState(version),
  };
};

/** Binding of a node's secrets: driver_info's are bound to its BMC. */
export const holdingOf = (node: NodeValues): ValuesOf => ({
  holder: 'node',
  holder_id: String(node.uuid),
  groups: [String(node.conductor_group ?? '')],
  sides: {
    driver_info: bmcSideOf({ driver: String(node.driver), driver_info: (node.driver_info ?? {}) as CreateBody }),
  },
});

/**
 * The node in a request's body, checked. Evaluates the rules of the body's keys; the enrol rule comes before.
 * @returns the function that stores it, also in the transaction of dependent rows
 */
export const nodeGiven = async (
  ctx: ApiContext,
  request: CreateRequest,
  { rule, owner }: { readonly rule: string; readonly owner: unknown },
): Promise<(nodes: Pick<Queries['nodes'], 'enrol'>) => Promise<NodeRow>> => {
  const values = await completed(ctx, request, owner);
  const sealed = sealAll(ctx.vault, values, sealedFields, holdingOf(values));
  return (nodes) => storeNode(nodes, ctx, request, rule, sealed);
};

const storeNode = async (
  nodes: Pick<Queries['nodes'], 'enrol'>,
  ctx: ApiContext,
  request: CreateRequest,
  rule: string,
  { values, secrets }: { values: NewNode; secrets: Sealed },
): Promise<NodeRow> => {
  const { uuid } = values;
  const { name, driver, owner, lessee } = values as Record<string, string | null>;
  const rows = changeRows(ctx.policy(), request, {
    action: 'node.create',
    kind: 'node.created',
    rule,
    resource: 'node',
    resource_id: uuid,
    node: { uuid, owner: owner ?? null, lessee: lessee ?? null },
    data: { name, driver, given: request.body },
  });
  return refusingDuplicates(nodeTable, values, () => nodes.enrol(values, { ...rows, secrets }));
};

export const nodeCreateRoutes: Route[] = [
  route({
    method: 'POST',
    path: '/v1/nodes',
    rules: [selfOwned, createRule, setChassis, ...allKeyRules, moveCredentials],
    requireAllowed: async ({ who }, ctx) =>
      void admit(ctx.policy(), who, ctx.settings.projectAdminCanManageOwnNodes, undefined),
    body: createSchema(nodeTable),
    gate: createGate(nodeTable),
    handler: async (request, ctx) => {
      const policy = ctx.policy();
      const { rule, owner } = admit(
        policy,
        request.who,
        ctx.settings.projectAdminCanManageOwnNodes,
        request.body.owner,
      );
      // A project that may not patch the chassis of its node must not detect whether a chassis exists.
      if (rule === selfOwned && request.body.chassis_uuid)
        policy.require(setChassis, request.who, nodeTarget({ owner: owner as string, lessee: null }));
      const store = await nodeGiven(ctx, request, { rule, owner });
      const node = await store(ctx.inventory.nodes);
      const shown = shownTo(policy, request);
      return created(
        nodeProjections.full(request.version).represent(node, shown),
        `${request.base}/v1/nodes/${node.uuid}`,
      );
    },
  }),
];
