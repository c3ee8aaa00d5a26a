/** PUT /v1/nodes/{ident}/states/provision: all verbs, from the rows of model/lifecycle/verbs. */
import type { ApiContext } from '../../context';
import { type Admitted, admitProvision, provisionRules } from '../../orders/admit';
import { type ProvisionBody, type ProvisionRequest, provisionBody } from '../../orders/request';
import { reasonHeader } from '../../orders/runbook';
import { visibleNode } from '../../resource/visibility';
import { type Answer, accepted, type Route } from '../../server/route';
import { nodeRoute } from './node-route';

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

const setProvisionState = async (request: ProvisionRequest, ctx: ApiContext): Promise<Answer> => {
  const ident = request.params.node_ident;
  const node = await visibleNode(ctx, request, ident);
  const reason = request.header(reasonHeader.toLowerCase());
  await act(ctx, await admitProvision(ctx, { ...request, reason }, node, ident));
  return accepted(`${request.base}/v1/nodes/${encodeURIComponent(ident)}/states`);
};

export const nodeProvisionRoutes: Route[] = [
  nodeRoute<unknown, ProvisionBody>('PUT', '/states/provision', {
    answers: { 202: null },
    rules: provisionRules,
    body: provisionBody,
    arguments: true,
    handler: setProvisionState,
  }),
];
