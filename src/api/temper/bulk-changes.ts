/** The changes that one request can make on many nodes, each by the checks of a request for one node. */

import { z } from 'zod';
import { provisionRules } from '../../admission/admit';
import { eventRules } from '../../admission/events';
import { setPower } from '../../admission/power';
import { type PowerTarget, powerTargets } from '../../model/lifecycle/states';
import { type BulkChange, bulkChanges, bulkVerbs, mostBulkNodes } from '../../model/resources/bulk';
import type { ApiContext } from '../context';
import type { ApiRequest } from '../server/route';
import { checkedMaintenance, maintenanceActs } from '../v1/nodes/maintenance';
import type { CheckedChange, NodeParams } from '../v1/nodes/node-route';
import { checkedPatch, checkedPatchRules, tenantRule } from '../v1/nodes/patch';
import { checkedProvision } from '../v1/nodes/provision';
import { checkedPower } from '../v1/nodes/states';

const project = z.string().min(1).max(255).nullable();

export const bulkBody = z
  .strictObject({
    nodes: z.array(z.string().min(1).max(255)).min(1).max(mostBulkNodes),
    reason: z.string().trim().min(1).max(1_000),
    maintenance: z.boolean().optional(),
    power: z.enum(Object.keys(powerTargets) as [PowerTarget, ...PowerTarget[]]).optional(),
    provision: z.enum(bulkVerbs).optional(),
    owner: project.optional(),
    lessee: project.optional(),
  })
  .refine((body) => bulkChanges.filter((name) => body[name] !== undefined).length === 1, {
    error: `give exactly one of ${bulkChanges.join(', ')}`,
  });
export type BulkBody = z.output<typeof bulkBody>;
export type NodeRequest = ApiRequest<NodeParams, Record<string, never>, unknown>;

type ChangeRow = {
  /** It starts a run, which a quota counts. */
  readonly startsRun?: true;
  readonly rules: readonly string[];
  /** The rule that the change itself needs. */
  rule(body: BulkBody): string;
  /** Of the answer to a request for one node. */
  readonly status: number;
  check(request: NodeRequest, ctx: ApiContext, body: BulkBody): Promise<CheckedChange>;
};

const maintenanceAct = ({ maintenance }: BulkBody) => (maintenance ? 'set' : 'clear');

const fieldChange = (name: 'owner' | 'lessee'): ChangeRow => ({
  rules: checkedPatchRules,
  rule: () => tenantRule(name),
  status: 200,
  check: (request, ctx, { [name]: value, reason }) =>
    checkedPatch({ ...request, body: [{ op: 'add', path: `/${name}`, value }] }, ctx, reason),
});

export const changes: Readonly<Record<BulkChange, ChangeRow>> = {
  maintenance: {
    rules: Object.values(maintenanceActs).map(({ rule }) => rule),
    rule: (body) => maintenanceActs[maintenanceAct(body)].rule,
    status: 202,
    check: (request, ctx, body) => checkedMaintenance(request, ctx, maintenanceAct(body), body.reason),
  },
  power: {
    startsRun: true,
    rules: [setPower],
    rule: () => setPower,
    status: 202,
    check: (request, ctx, { power, reason }) => checkedPower({ ...request, body: { target: power! } }, ctx, reason),
  },
  provision: {
    startsRun: true,
    rules: provisionRules,
    rule: () => provisionRules[0]!,
    status: 202,
    check: (request, ctx, { provision, reason }) =>
      checkedProvision({ ...request, body: { target: provision! } }, ctx, reason),
  },
  owner: fieldChange('owner'),
  lessee: fieldChange('lessee'),
};

export const bulkRules = [...new Set([eventRules.node, ...Object.values(changes).flatMap(({ rules }) => rules)])];

export const changeIn = (body: BulkBody): BulkChange => bulkChanges.find((name) => body[name] !== undefined)!;
