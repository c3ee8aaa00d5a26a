/** PUT /v1/nodes/{ident}/states/provision: all verbs, from the rows of model/lifecycle/verbs. */

import { type Admitted, admitProvision, provisionRules } from '../../../admission/admit';
import { type ProvisionBody, provisionBody } from '../../../admission/request';
import { reasonHeader } from '../../../admission/runbook';
import { visibleNode } from '../../../admission/visibility';
import type { ApiContext } from '../../context';
import { type ApiRequest, accepted, type Route } from '../../server/route';
import { type NodeParams, nodeRoute } from './node-route';

const act = async ({ runs }: ApiContext, admitted: Admitted): Promise<void> => {
  switch (admitted.does) {
    case 'run':
      await runs.start(admitted.order);
      return;
    case 'move':
      return runs.move(admitted);
    case 'message':
      return runs.send(admitted);
  }
};

const setProvisionState = async (request: ApiRequest<NodeParams, unknown, ProvisionBody>, ctx: ApiContext) => {
  const ident = request.params.node_ident;
  const node = await visibleNode(ctx, request, ident);
  const reason = request.header(reasonHeader.toLowerCase());
  await act(ctx, await admitProvision(ctx, { ...request, reason }, node, ident));
  return accepted(`${request.base}/v1/nodes/${encodeURIComponent(ident)}/states`);
};

export const nodeProvisionRoutes: Route[] = [
  nodeRoute('PUT', '/states/provision', {
    answers: { 202: null },
    rules: provisionRules,
    body: provisionBody,
    arguments: true,
    handler: setProvisionState,
  }),
];
