/** /v1/drivers/{name}/vendor_passthru: methods that need no node. The drivers here have none, and say so. */
import { z } from 'zod';
import { driverMethods, shownMethods } from '../../model/lifecycle/vendor-methods';
import type { Rooms } from '../context';
import { type Asking, ok, type Route, route } from '../http/route';
import { document } from '../resource/validation';
import { liveDriver } from './drivers';
import { methodsShape, offered, verbs } from './nodes/vendor-passthru';

const rule = 'baremetal:driver:vendor_passthru';

const params = z.object({ driver_name: z.string() });
type Params = z.output<typeof params> & { readonly method?: string };
const named = params.extend({ method: z.string() });

const requireDriver = async ({ who, params: { driver_name } }: Asking<Params, unknown, unknown>, rooms: Rooms) => {
  rooms.policy().require(rule, who);
  await liveDriver(rooms, driver_name);
};

const path = '/v1/drivers/:driver_name/vendor_passthru';

export const driverVendorPassthruRoutes: Route[] = [
  route<Params>({
    method: 'GET',
    path: `${path}/methods`,
    answers: { 200: methodsShape },
    rules: [rule],
    params,
    handler: async (asking, rooms) => {
      await requireDriver(asking, rooms);
      return ok(shownMethods(driverMethods));
    },
  }),
  ...verbs.flatMap((method) =>
    [
      { path, params },
      { path: `${path}/:method`, params: named },
    ].map((at) =>
      route<Params, unknown, Readonly<Record<string, unknown>>>({
        method,
        path: at.path,
        answers: { 200: z.unknown() },
        rules: [rule],
        params: at.params,
        body: document,
        arguments: true,
        handler: async (asking, rooms) => {
          await requireDriver(asking, rooms);
          const given = asking.params.method ?? asking.body.method;
          offered(driverMethods, given === undefined ? undefined : String(given), method);
          return ok(null);
        },
      }),
    ),
  ),
];
