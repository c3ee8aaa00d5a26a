/** /v1/drivers/{name}/vendor_passthru: methods without a node. No driver here has any. */

import { z } from 'zod';
import { document } from '../../admission/schemas';
import { driverMethods, shownMethods } from '../../model/lifecycle/vendor-methods';
import type { ApiContext } from '../context';
import { type ApiRequest, ok, type Route, route } from '../server/route';
import { liveDriver } from './drivers';
import { methodsShape, offeredMethod, passthruMethods } from './nodes/vendor-passthru';

const driverVendorPassthruRule = 'baremetal:driver:vendor_passthru';

const driverVendorPassthruParams = z.object({ driver_name: z.string() });
type DriverVendorPassthruParams = z.output<typeof driverVendorPassthruParams> & { readonly method?: string };
const methodParams = driverVendorPassthruParams.extend({ method: z.string() });

const requireDriver = async (
  { who, params: { driver_name } }: ApiRequest<DriverVendorPassthruParams, unknown, unknown>,
  ctx: ApiContext,
) => {
  ctx.policy().require(driverVendorPassthruRule, who);
  await liveDriver(ctx, driver_name);
};

const driverVendorPassthruPath = '/v1/drivers/:driver_name/vendor_passthru';

export const driverVendorPassthruRoutes: Route[] = [
  route({
    method: 'GET',
    path: `${driverVendorPassthruPath}/methods`,
    answers: { 200: methodsShape },
    rules: [driverVendorPassthruRule],
    params: driverVendorPassthruParams,
    handler: async (request, ctx) => {
      await requireDriver(request, ctx);
      return ok(shownMethods(driverMethods));
    },
  }),
  ...passthruMethods.flatMap((method) =>
    [
      { path: driverVendorPassthruPath, params: driverVendorPassthruParams },
      { path: `${driverVendorPassthruPath}/:method`, params: methodParams },
    ].map((at) =>
      route({
        method,
        path: at.path,
        answers: { 200: z.unknown() },
        rules: [driverVendorPassthruRule],
        params: at.params,
        body: document,
        arguments: true,
        handler: async (request: ApiRequest<DriverVendorPassthruParams, unknown, z.output<typeof document>>, ctx) => {
          await requireDriver(request, ctx);
          const given = request.params.method ?? request.body.method;
          offeredMethod(driverMethods, given === undefined ? undefined : String(given), method);
          return ok(null);
        },
      }),
    ),
  ),
];
