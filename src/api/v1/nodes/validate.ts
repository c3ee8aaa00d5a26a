/** Node validation: checks the requirements of each interface in PostgreSQL, never on a BMC. */

import { z } from 'zod';
import type { AdmissionContext } from '../../../admission/context';
import { checkInstance } from '../../../admission/deploy';
import { checkDriverInfo } from '../../../admission/driver-info';
import { glanceRules } from '../../../admission/glance';
import { requireImage, requireRamdisks, requireStepOrigins, withDefaultRamdisk } from '../../../admission/images';
import { askedOnce, memoized } from '../../../admission/prefetched';
import { visibleNode } from '../../../admission/visibility';
import type { NodeRow } from '../../../inventory/nodes/nodes';
import type { Caller } from '../../../model/access/callers';
import { isTemperError, raise } from '../../../model/errors';
import { asUuid } from '../../../model/ids';
import { bootsRamdisk, interfaceOf, isDriver } from '../../../model/lifecycle/drivers';
import { planFor } from '../../../model/lifecycle/plans';
import { type InterfaceName, interfaceNames } from '../../../model/lifecycle/step-types';
import type { RunKind } from '../../../model/lifecycle/verbs';
import { requireMinor } from '../../../model/resources/microversions';
import { nodeTarget } from '../../../policy';
import * as shapes from '../../../wire/ironic';
import type { ApiContext } from '../../context';
import { type ApiRequest, ok, type Route, route } from '../../server/route';
import { nodeRoute } from './node-route';

const validate = 'baremetal:node:validate';

type Result = { readonly result: boolean | null; readonly reason?: string };
type ValidatingContext = AdmissionContext & { readonly who: Caller };
type InterfaceCheck = (node: NodeRow, ctx: ValidatingContext, name: InterfaceName) => void | Promise<void>;

const identOf = (node: NodeRow): string => node.name ?? node.uuid;

/** Interfaces that use the BMC need the driver's properties. */
const byBmc: InterfaceCheck = (node) => {
  if (isDriver(node.driver)) checkDriverInfo(identOf(node), node.driver, node.driver_info, { missing: true });
};

/** A verb can run: its ramdisk has an allowed image, or a ramdisk record. */
const canPlan =
  (kind: RunKind): InterfaceCheck =>
  async (node, ctx) => {
    const plan = { node: withDefaultRamdisk(ctx, node), steps: [], automatic: true, args: {} };
    const { steps } = planFor(kind, plan);
    requireStepOrigins(ctx, steps);
    await requireRamdisks(ctx, node, steps);
  };

const canBoot: InterfaceCheck = async (node, ctx, name) => {
  await byBmc(node, ctx, name);
  if (bootsRamdisk(node)) await canPlan('clean')(node, ctx, name);
};

const byRamdisk: InterfaceCheck = (node, ctx, name) => {
  if (bootsRamdisk(node)) return canPlan('clean')(node, ctx, name);
  const reason = `${name}_interface agent works in the ramdisk, which deploy interface ${interfaceOf(node, 'deploy')} does not boot`;
  raise('InvalidSteps', { reason: `${reason}.` });
};

const deploys: InterfaceCheck = async (node, ctx, name) => {
  await checkInstance(ctx, ctx.who, node, identOf(node));
  await requireImage(ctx, node, identOf(node));
  await canPlan('deploy')(node, ctx, name);
};

const noCheck: InterfaceCheck = () => {};

/** Checks per implementation; `*` is for all others of the interface. */
const checks: Readonly<Record<InterfaceName, Readonly<Record<string, InterfaceCheck>>>> = {
  bios: { '*': byBmc },
  boot: { '*': canBoot },
  console: { '*': noCheck },
  deploy: { '*': deploys },
  firmware: { '*': byBmc },
  inspect: { agent: canPlan('inspect'), '*': byBmc },
  management: { '*': byBmc },
  network: { '*': noCheck },
  power: { '*': byBmc },
  raid: { agent: byRamdisk, '*': byBmc },
  rescue: { agent: canPlan('rescue'), '*': byBmc },
  storage: { '*': noCheck },
  vendor: { '*': byBmc },
};

const refusalReason = async (work: () => void | Promise<void>): Promise<string | undefined> => {
  try {
    await work();
    return undefined;
  } catch (thrown) {
    if (isTemperError(thrown)) return thrown.message;
    throw thrown;
  }
};

const resultOf = async (node: NodeRow, ctx: ValidatingContext, name: InterfaceName): Promise<Result> => {
  const implementation = interfaceOf(node, name);
  if (!isDriver(node.driver)) return { result: false, reason: `Driver ${node.driver} is not enabled here.` };
  if (implementation.startsWith('no-'))
    return { result: null, reason: `not supported: ${name}_interface is ${implementation}` };
  const check = checks[name][implementation] ?? checks[name]['*']!;
  const reason = await refusalReason(() => check(node, ctx, name));
  return reason === undefined ? { result: true } : { result: false, reason };
};

/** Several interfaces use the same records, so each is read once. */
const readingOnce = (ctx: ApiContext, who: Caller): ValidatingContext => {
  const { inventory, glance } = ctx;
  const { ramdisks, images } = inventory;
  const records = {
    ramdisks: { ...ramdisks, find: memoized(ramdisks.find) },
    images: { ...images, find: memoized(images.find) },
  };
  return { ...ctx, who, ...(glance && { glance: askedOnce(glance) }), inventory: { ...inventory, ...records } };
};

const answerValidation = async (request: ApiRequest<unknown, unknown, unknown>, ctx: ApiContext, ident: string) => {
  const node = await visibleNode(ctx, request, ident);
  ctx.policy().require(validate, request.who, nodeTarget(node));
  const shown = interfaceNames.filter((name) => name !== 'vendor');
  const reading = readingOnce(ctx, request.who);
  return ok(
    Object.fromEntries(await Promise.all(shown.map(async (name) => [name, await resultOf(node, reading, name)]))),
  );
};

const validateQuery = z.strictObject({ node: z.string().optional(), node_uuid: z.string().optional() });

export const nodeValidateRoutes: Route[] = [
  nodeRoute('GET', '/validate', {
    answers: { 200: shapes.validation },
    rules: [validate, ...glanceRules],
    handler: (request, ctx) => answerValidation(request, ctx, request.params.node_ident),
  }),
  route({
    method: 'GET',
    path: '/v1/nodes/validate',
    answers: { 200: shapes.validation },
    rules: ['baremetal:node:get', validate, ...glanceRules],
    query: validateQuery,
    handler: (request, ctx) => {
      const ident = request.query.node_uuid ?? request.query.node;
      if (ident === undefined) return raise('InvalidInput', { field: 'node', reason: 'is missing' });
      if (asUuid(ident) === undefined) requireMinor(request.version, 5, 'a node by name');
      return answerValidation(request, ctx, ident);
    },
  }),
];
