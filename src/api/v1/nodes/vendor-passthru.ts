/** /v1/nodes/{ident}/vendor_passthru: vendor methods by name. */

import { z } from 'zod';
import { document } from '../../../admission/schemas';
import { raise } from '../../../model/errors';
import { actRow } from '../../../model/lifecycle/steps';
import {
  ejectedDrives,
  shownMethods,
  type VendorHttpMethod,
  type VendorMethod,
  type VendorMethodRow,
  type VendorMethods,
  vendorMethodsOf,
} from '../../../model/lifecycle/vendor-methods';
import { list } from '../../../wire/parts';
import type { ApiContext } from '../../context';
import { schemaError } from '../../server/errors';
import { type ApiRequest, accepted, type Method, ok, type Route } from '../../server/route';
import { actOnNode, allowedNode, lookAtNode } from './bmc-calls';
import { type NodeParams, nodeParams, nodeRoute } from './node-route';

const vendorPassthruRule = 'baremetal:node:vendor_passthru';

/** HTTP verbs of methods; each method's row selects one. */
export const passthruMethods: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** GET methods by name. */
export const methodsShape = z.record(
  z.string(),
  z.strictObject({
    async: z.boolean(),
    attach: z.boolean(),
    description: z.string(),
    http_methods: list(z.string()),
    require_exclusive_lock: z.boolean(),
  }),
);

type VendorPassthruArgs = Readonly<Record<string, unknown>>;

const id = z.strictObject({ id: z.union([z.string().min(1).max(255), z.int().transform(String)]) });

const url = z
  .string()
  .max(2_048)
  .refine((given) => /^https?:\/\/[^\s/?#]/i.test(given) && URL.canParse(given), {
    error: 'must be an http or https URL',
  });

const subscription = z
  .strictObject({
    Destination: url,
    Context: z.string().max(255).optional(),
    Protocol: z.string().min(1).max(64).optional(),
    EventTypes: z.array(z.string().max(64)).min(1).max(32).nullish(),
    HttpHeaders: z.array(z.record(z.string(), z.string())).max(32).nullish(),
  })
  .transform(({ Destination, Context, Protocol, EventTypes, HttpHeaders }) => ({
    destination: Destination,
    ...(Context !== undefined && { context: Context }),
    ...(Protocol !== undefined && { protocol: Protocol }),
    ...(EventTypes && { event_types: EventTypes }),
    // This key name makes them sealed: the receiver authenticates the BMC by them.
    ...(HttpHeaders?.length && { secret_headers: HttpHeaders }),
  }));

const ejection = z
  .strictObject({ boot_device: z.enum(Object.keys(ejectedDrives) as [keyof typeof ejectedDrives]).nullish() })
  .transform(({ boot_device }) => (boot_device ? { device_type: ejectedDrives[boot_device] } : {}));

/** The act's arguments, from the method's. */
const args: Readonly<Record<VendorMethod, z.ZodType<VendorPassthruArgs>>> = {
  create_subscription: subscription,
  delete_subscription: id,
  get_subscription: id,
  get_all_subscriptions: z.strictObject({}).transform(() => ({})),
  eject_vmedia: ejection,
};

/** The method's row. Throws InvalidInput for an unknown name or a wrong HTTP verb. */
export const offeredMethod = (methods: VendorMethods, name: string | undefined, verb: Method): VendorMethodRow => {
  const known = Object.keys(methods).join(', ') || 'none';
  if (name === undefined) return raise('InvalidInput', { field: 'method', reason: `is missing; offered: ${known}` });
  const row = Object.hasOwn(methods, name) ? methods[name] : undefined;
  if (!row) return raise('InvalidInput', { field: 'method', reason: `${name} is not offered here; offered: ${known}` });
  if (!row.http_methods.includes(verb as VendorHttpMethod))
    raise('InvalidInput', { field: 'method', reason: `${name} takes ${row.http_methods.join(', ')}, not ${verb}` });
  return row;
};

const parsedArgs = (name: string, given: VendorPassthruArgs): VendorPassthruArgs => {
  const result = args[name as VendorMethod].safeParse(given);
  if (!result.success) throw schemaError(result.error, 'body');
  return result.data;
};

type PassthruRequest = ApiRequest<NodeParams & { readonly method?: string }, unknown, VendorPassthruArgs>;

const call = async (request: PassthruRequest, ctx: ApiContext, verb: Method) => {
  const node = await allowedNode(request, ctx, vendorPassthruRule);
  const { method: named, ...given } = request.body;
  const name = request.params.method ?? (typeof named === 'string' ? named : undefined);
  const row = offeredMethod(vendorMethodsOf(node), name, verb);
  const deed = {
    rule: vendorPassthruRule,
    act: row.act,
    args: parsedArgs(name!, request.params.method ? request.body : given),
  };
  if (actRow(row.act).effect === 'read') return ok((await lookAtNode(request, ctx, node, deed)) ?? null);
  const said = await actOnNode(request, ctx, node, { ...deed, ...(row.async && { background: true as const }) });
  return row.async ? accepted() : ok(said ?? null);
};

const methodParams = nodeParams.extend({ method: z.string() });

export const vendorPassthruRoutes: Route[] = [
  nodeRoute('GET', '/vendor_passthru/methods', {
    answers: { 200: methodsShape },
    rules: [vendorPassthruRule],
    handler: async (request, ctx) =>
      ok(shownMethods(vendorMethodsOf(await allowedNode(request, ctx, vendorPassthruRule)))),
  }),
  ...passthruMethods.flatMap((method) =>
    [
      { below: '/vendor_passthru', params: nodeParams },
      { below: '/vendor_passthru/:method', params: methodParams },
    ].map(({ below, params }) =>
      nodeRoute(method, below, {
        params,
        answers: { 200: z.unknown(), 202: null },
        rules: [vendorPassthruRule],
        body: document,
        arguments: true,
        handler: (request, ctx) => call(request, ctx, method),
      }),
    ),
  ),
];
