/** PUT /v1/nodes/{ident}/states/provision: all verbs, from the rows of model/lifecycle/verbs. */

import { type Admitted, admitProvision, provisionRules } from '../../../admission/admit';
import { type ProvisionBody, provisionBody } from '../../../admission/request';
import { reasonHeader } from '../../../admission/runbook';
import { visibleNode } from '../../../admission/visibility';
import type { ApiContext } from '../../context';
import { type ApiRequest, accepted, type Route } from '../../server/route';
import { type CheckedChange, type NodeParams, nodeRoute } from './node-route';

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

type ProvisionRequest = ApiRequest<NodeParams, unknown, ProvisionBody>;

const withReason = (admitted: Admitted, reason: string): Admitted =>
  admitted.does === 'run'
    ? { ...admitted, order: { ...admitted.order, asked: { ...admitted.order.asked, reason } } }
    : { ...admitted, asked: { ...admitted.asked, reason } };

/** @param said for the audit trail. Throws NodeNotFound, and the refusals of the admission */
export const checkedProvision = async (
  request: ProvisionRequest,
  ctx: ApiContext,
  said?: string,
): Promise<CheckedChange> => {
  const ident = request.params.node_ident;
  const node = await visibleNode(ctx, request, ident);
  const reason = request.header(reasonHeader.toLowerCase());
  const admitted = await admitProvision(ctx, { ...request, reason }, node, ident);
  return () => act(ctx, said === undefined ? admitted : withReason(admitted, said));
};

const setProvisionState = async (request: ProvisionRequest, ctx: ApiContext) => {
  await (await checkedProvision(request, ctx))();
  return accepted(`${request.base}/v1/nodes/${encodeURIComponent(request.params.node_ident)}/states`);
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
