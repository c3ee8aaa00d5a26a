/** PATCH /v1/nodes/{ident}: changes fields, each by its own rule. */

import { z } from 'zod';
import { checkDriverInfo, requireDriver } from '../../../admission/driver-info';
import { flag } from '../../../admission/schemas';
import { visibleNode } from '../../../admission/visibility';
import type { Queries } from '../../../inventory';
import type { NodeRow, NodeValues } from '../../../inventory/nodes/nodes';
import { secretRefs } from '../../../model/access/secrets';
import { raise } from '../../../model/errors';
import type { DriverName } from '../../../model/lifecycle/drivers';
import { requireMinor } from '../../../model/resources/microversions';
import { nodeTable, ownerGuardedIn } from '../../../model/resources/nodes';
import { nodeTarget, type Policy } from '../../../policy';
import { changeRows } from '../../audit/record';
import type { ApiContext } from '../../context';
import { restoreSecrets, sealAll } from '../../resource/document-secrets';
import { refusingDuplicates } from '../../resource/duplicates';
import { isLessee, stampLessee } from '../../resource/lease-writes';
import { attributeOf, attributesOf, checkAttributes, type Operation, patchBody, patcherOf } from '../../resource/patch';
import { lostLockRace } from '../../server/lock-wait';
import { type ApiRequest, ok, type Route, type Unread } from '../../server/route';
import { checkAllocatedOwner } from './allocation';
import { checkBmcAddress } from './bmc-address';
import { checkConflicts, checkIdle, followed, resetInterfaces } from './changes';
import { checkForms, checkInterfaces, checkName, defaultInterfaces, parentUuid } from './checks';
import { checkReasons, holdingOf, sealedFields } from './create';
import { checkCaPath, checkMove, moveCredentials } from './credentials';
import { allKeyRules, requireKeys, selfOwned } from './guarded-keys';
import { type NodeParams, nodeRoute } from './node-route';
import { nodeProjections, shownTo } from './representation';

const patchQuery = z.strictObject({ reset_interfaces: flag.optional() });
type PatchRequest = ApiRequest<NodeParams, z.output<typeof patchQuery>, readonly Operation[]>;

const update = 'baremetal:node:update';
const disableCleaning = 'baremetal:node:disable_cleaning';
const updateProvisioned = 'baremetal:node:update_owner_provisioned';

const patched = patcherOf(nodeTable);

const patchRules = [...new Set(nodeTable.fields.flatMap((row) => row.patch ?? []))];
const ruleByField = new Map(nodeTable.fields.map((row) => [row.name, row.patch ?? update]));

/** The rule for a change of the owner or the lessee. */
export const tenantRule = (field: 'owner' | 'lessee'): string => ruleByField.get(field)!;

/** Without cleaning one tenant's data reaches the next, so switching it off needs a separate rule. */
const ruleFor = (one: Operation): string => {
  const name = attributeOf(one);
  if (name === 'automated_clean' && one.op !== 'remove' && flag.safeParse(one.value).data === false)
    return disableCleaning;
  return ruleByField.get(name)!;
};

/** The rules of a patch, without repeats. A patch without operations needs the update rule. */
const rulesOf = (patch: readonly Operation[]): string[] => [
  ...new Set(patch.length === 0 ? [update] : patch.map(ruleFor)),
];

const gate = ({ query }: { query: Readonly<Record<string, unknown>> }, minor: number): void => {
  if (query.reset_interfaces !== undefined) requireMinor(minor, 45, 'the parameter reset_interfaces');
};

const checkPatch = ({ body, query, version }: PatchRequest): void => {
  checkAttributes(nodeTable, body, version);
  if (query.reset_interfaces && !attributesOf(body).includes('driver'))
    raise('InvalidInput', { field: 'reset_interfaces', reason: 'is only allowed when the patch changes /driver' });
  const unsets = body.some((one) => attributeOf(one) === 'chassis_uuid' && one.op === 'remove');
  if (unsets) requireMinor(version, 25, 'removing chassis_uuid');
};

const checkOwner = (policy: Policy, request: PatchRequest, node: NodeRow): void => {
  if (!attributesOf(request.body).includes('owner') || !ownerGuardedIn.includes(node.provision_state)) return;
  if (!policy.allows(updateProvisioned, request.who, nodeTarget(node)))
    raise('Conflict', {
      reason: `The owner of node ${node.uuid} cannot change while it is in state "${node.provision_state}" without the permission ${updateProvisioned}.`,
    });
};

type Next = { readonly values: NodeValues; readonly whole: NodeValues; readonly rules: readonly string[] };

/** The new values, checked. `whole` is the resulting node, `rules` admitted the patch. */
const nextValues = async (ctx: ApiContext, request: PatchRequest, node: NodeRow): Promise<Next> => {
  const given = patched(node, request.body);
  for (const name of sealedFields) if (name in given) given[name] = restoreSecrets(name, given[name], node[name]);
  checkName(given.name, request.version);
  checkForms(given);
  const driver = requireDriver(given.driver ?? node.driver);
  if (request.query.reset_interfaces) Object.assign(given, resetInterfaces(driver, request.body));
  if (given.parent_node) given.parent_node = await parentUuid(ctx, request, String(given.parent_node), node);
  const values = withDefaults(driver, followed(node, given));
  const whole: NodeValues = { ...node, ...values };
  const rules = [
    ...rulesOf(request.body),
    ...requireKeys(ctx, request.who, node, whole),
    ...requireCleaning(ctx, request, node, whole),
  ];
  checkReasons(whole);
  if ('driver' in given || Object.keys(values).some((name) => name.endsWith('_interface')))
    checkInterfaces(driver, whole);
  if ('driver_info' in given || 'driver' in given) {
    const info = whole.driver_info as Record<string, unknown>;
    checkDriverInfo(request.params.node_ident, driver, info, { missing: false });
    if (checkCredentials(ctx.policy(), request, node, { driver, driver_info: info })) rules.push(moveCredentials);
    await checkBmcAddress(ctx.settings, driver, info, request.params.node_ident);
  }
  return { values, whole, rules };
};

/** Returning to the installation's default may switch cleaning off, so it needs the same rule. */
const requireCleaning = (ctx: ApiContext, { who, body }: PatchRequest, node: NodeRow, after: NodeValues): string[] => {
  const cleaned = (value: unknown): boolean => (value ?? ctx.settings.automatedClean) === true;
  if (!attributesOf(body).includes('automated_clean') || !cleaned(node.automated_clean)) return [];
  if (cleaned(after.automated_clean)) return [];
  ctx.policy().require(disableCleaning, who, nodeTarget(node));
  return [disableCleaning];
};

/** True if the rule for redirected credentials was needed. Throws if it refuses. */
const checkCredentials = (
  policy: Policy,
  { who }: PatchRequest,
  node: NodeRow,
  after: { readonly driver: DriverName; readonly driver_info: Readonly<Record<string, unknown>> },
): boolean => {
  const may = () => policy.allows(moveCredentials, who, nodeTarget(node));
  const before = { driver: node.driver as DriverName, driver_info: node.driver_info };
  checkCaPath(may, before, after);
  return checkMove(may, before, after);
};

/** A removed interface returns to the driver's default. */
const withDefaults = (driver: ReturnType<typeof requireDriver>, values: Record<string, unknown>) => {
  const defaults = defaultInterfaces(driver, {});
  for (const name of Object.keys(defaults)) if (name in values && values[name] === null) values[name] = defaults[name];
  return values;
};

const valuesBefore = (node: NodeRow, values: NodeValues) =>
  Object.fromEntries(Object.keys(values).map((name) => [name, node[name as keyof NodeRow]]));

/** One statement writes node, audit row and event. A lease that may be ending, and secrets without references, need a transaction. */
const storePatched = async (ctx: ApiContext, request: PatchRequest, node: NodeRow, next: Next, reason?: string) => {
  const policy = ctx.policy();
  const { values, secrets } = sealAll(ctx.vault, next.values, sealedFields, holdingOf(next.whole));
  const record = changeRows(policy, request, {
    action: 'node.update',
    kind: 'node.updated',
    rule: next.rules.join(', '),
    resource: 'node',
    resource_id: node.uuid,
    node: { ...node, ...values },
    data: { changed: values, before: valuesBefore(node, values), ...(reason !== undefined && { reason }) },
    // The next tenant reads the event of a hand-over.
    facts: { changed: values },
  });
  const change = ({ nodes }: Pick<Queries, 'nodes'>) => nodes.update(node, values, { held: true, record });
  const sealed = sealedFields.some((name) => name in values);
  const inTransaction = async (inventory: Queries) => {
    await stampLessee(inventory, request.who, node, { lock: true });
    const updated = await change(inventory);
    if (!updated || !sealed) return updated;
    const keep = [...sealedFields, 'of_lease'].flatMap((name) => secretRefs(updated[name as keyof NodeRow]));
    await inventory.secrets.insert(secrets);
    await inventory.secrets.prune('node', node.uuid, keep);
    return updated;
  };
  return refusingDuplicates(nodeTable, values, () =>
    sealed || isLessee(request.who, node) ? ctx.inventory.transaction(inTransaction) : change(ctx.inventory),
  );
};

/** @param reason for the audit trail. @returns the change, which returns the resulting node. Throws NodeNotFound and every refusal */
export const checkedPatch = async (
  request: PatchRequest,
  ctx: ApiContext,
  reason?: string,
): Promise<() => Promise<NodeRow>> => {
  checkPatch(request);
  const policy = ctx.policy();
  const ident = request.params.node_ident;
  const node = await visibleNode(ctx, request, ident);
  for (const rule of rulesOf(request.body)) policy.require(rule, request.who, nodeTarget(node));
  checkIdle(node, ident, request.body, request.version);
  checkOwner(policy, request, node);
  await checkAllocatedOwner(ctx, node, attributesOf(request.body));
  const next = await nextValues(ctx, request, node);
  checkConflicts(node, next.values);
  if (Object.keys(next.values).length === 0) return async () => node;
  return async () => (await storePatched(ctx, request, node, next, reason)) ?? lostLockRace(ident);
};

const patchNode = async (request: PatchRequest, ctx: ApiContext) => {
  const updated = await (await checkedPatch(request, ctx))();
  return ok(nodeProjections.full(request.version).represent(updated, shownTo(ctx.policy(), request)));
};

/** For an unreadable patch, which names no field. Refuses a caller whom every field's rule refuses. Throws PolicyDenied, NodeNotFound. */
const requireAnyField = async (
  { who, params: { node_ident = '' }, version }: Unread,
  ctx: ApiContext,
): Promise<void> => {
  const node = await visibleNode(ctx, { who, version }, node_ident);
  const policy = ctx.policy();
  if (![...patchRules, disableCleaning].some((rule) => policy.allows(rule, who, nodeTarget(node))))
    policy.require(update, who, nodeTarget(node));
};

/** The rules that a patch may evaluate. */
export const checkedPatchRules: readonly string[] = [
  ...patchRules,
  disableCleaning,
  updateProvisioned,
  ...allKeyRules,
  selfOwned,
  moveCredentials,
];

export const nodePatchRoutes: Route[] = [
  nodeRoute('PATCH', '', {
    rules: checkedPatchRules,
    requireAllowed: requireAnyField,
    query: patchQuery,
    gate,
    body: patchBody,
    handler: patchNode,
  }),
];
