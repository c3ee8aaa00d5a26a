/** Discovery documents at `/` and `/v1`. */
import { maxVersion, minVersion } from '../../model/resources/microversions';
import * as shapes from '../../wire/ironic';
import { ok, type Route, route } from '../server/route';

const versionObject = (base: string) => ({
  id: 'v1',
  status: 'CURRENT',
  min_version: minVersion,
  version: maxVersion,
  links: [{ href: `${base}/v1/`, rel: 'self' }],
});

// openstack/ironic:ironic/api/controllers/v1/__init__.py; clients read only the names.
const resources = [
  { name: 'chassis', since: 1 },
  { name: 'nodes', since: 1 },
  { name: 'ports', since: 1 },
  { name: 'drivers', since: 1 },
  { name: 'lookup', since: 22 },
  { name: 'heartbeat', since: 22 },
  { name: 'portgroups', since: 23 },
  { name: 'volume', since: 32 },
  { name: 'conductors', since: 49 },
  { name: 'allocations', since: 52 },
  { name: 'events', since: 54 },
  { name: 'deploy_templates', since: 55 },
  { name: 'shards', since: 82 },
  { name: 'continue_inspection', since: 84 },
  { name: 'runbooks', since: 92 },
  { name: 'inspection_rules', since: 96 },
] as const;

const resourceLinks = (base: string, minor: number) =>
  Object.fromEntries(
    resources
      .filter(({ since }) => since <= minor)
      .map(({ name }) => [
        name,
        [
          { href: `${base}/v1/${name}/`, rel: 'self' },
          { href: `${base}/${name}/`, rel: 'bookmark' },
        ],
      ]),
  );

export const rootRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/',
    answers: { 200: shapes.root },
    rules: 'public',
    handler: async ({ base }) =>
      ok({
        name: 'OpenStack Ironic API',
        description: 'Temper: bare-metal provisioning that speaks the Ironic API, every change a durable run.',
        default_version: versionObject(base),
        versions: [versionObject(base)],
      }),
  }),
  route({
    method: 'GET',
    path: '/v1',
    answers: { 200: shapes.discovery },
    rules: 'public',
    handler: async ({ base, version }) =>
      ok({
        id: 'v1',
        links: [
          { href: `${base}/v1/`, rel: 'self' },
          { href: 'https://docs.openstack.org/api-ref/baremetal/', rel: 'describedby', type: 'text/html' },
        ],
        media_types: { base: 'application/json', type: 'application/vnd.openstack.ironic.v1+json' },
        version: versionObject(base),
        ...resourceLinks(base, version),
      }),
  }),
];
