/** /v1/volume: connectors and targets of nodes, also below nodes. */
import { visibleNode } from '../../admission/visibility';
import { checkPoweredOff, checkRemovable } from '../../model/resources/node-resources';
import {
  connectorTable,
  targetTable,
  type VolumeConnector,
  type VolumeTarget,
  viewProperties,
  volumesSince,
} from '../../model/resources/volumes';
import { nodeTarget } from '../../policy';
import * as shapes from '../../wire/ironic';
import type { Resource } from '../resource/kit';
import { editRoutes } from '../resource/kit-edits';
import { shownRoutes } from '../resource/kit-lists';
import { links, linksTo, projections } from '../resource/representation';
import { ok, type Route, route } from '../server/route';
import { nodeRoute } from './nodes/node-route';

const volumeRule = 'baremetal:volume:get';
const unownedTarget = nodeTarget({ owner: null, lessee: null });

/** @param what as in error messages */
const volumeKind = (what: string) =>
  ({
    home: {},
    since: volumesSince,
    below: [{ parent: 'nodes', param: 'ident', since: volumesSince }],
    detailSince: volumesSince,
    rules: 'baremetal:volume',
    before: [
      {
        on: ['update'],
        check: ({ node, to }) => {
          for (const home of [node, to]) checkPoweredOff(home, `${what} update`);
        },
      },
      { on: ['delete'], check: ({ node }) => checkRemovable(node, `${what} deletion`) },
    ],
  }) as const satisfies Partial<Resource>;

const connector: Resource<VolumeConnector> = {
  ...volumeKind('volume connector'),
  table: connectorTable,
  what: 'volume_connector',
  path: 'volume/connectors',
  missing: 'VolumeConnectorNotFound',
  store: (inventory) => inventory.volumeConnectors,
  shown: projections(connectorTable, { links: linksTo('volume/connectors') }),
};

const target: Resource<VolumeTarget> = {
  ...volumeKind('volume target'),
  table: targetTable,
  what: 'volume_target',
  path: 'volume/targets',
  redacting: [viewProperties],
  missing: 'VolumeTargetNotFound',
  store: (inventory) => inventory.volumeTargets,
  shown: projections(targetTable, { links: linksTo('volume/targets') }),
  sealing: { holder: 'volume_target', fields: ['properties'] },
};

const below = (base: string, path: string) => ({
  links: links(base, path),
  connectors: links(base, `${path}/connectors`),
  targets: links(base, `${path}/targets`),
});

const rootRoute = route({
  method: 'GET',
  path: '/v1/volume',
  answers: { 200: shapes.volume },
  since: volumesSince,
  rules: [volumeRule],
  handler: async ({ who, base }, ctx) => {
    ctx.policy().require(volumeRule, who, unownedTarget);
    return ok(below(base, 'volume'));
  },
});

const volumesOfNode = nodeRoute('GET', '/volume', {
  answers: { 200: shapes.volume },
  since: volumesSince,
  rules: [volumeRule],
  handler: async (request, ctx) => {
    const node = await visibleNode(ctx, request, request.params.node_ident);
    ctx.policy().require(volumeRule, request.who, nodeTarget(node));
    return ok(below(request.base, `nodes/${node.uuid}/volume`));
  },
});

export const volumeRoutes: Route[] = [
  rootRoute,
  volumesOfNode,
  ...shownRoutes(connector),
  ...editRoutes(connector),
  ...shownRoutes(target),
  ...editRoutes(target),
];
