/** Visibility of events, for lists, streams and webhooks of projects. */
import type { SeenEvent } from '../inventory/event-pages';
import { anonymous, type Caller, expandRoles } from '../model/access/callers';
import { maskSecrets } from '../model/access/secrets';
import { kindsWith } from '../model/resources/event-kinds';
import { nodeTarget, type Policy, rolloutTarget, runTarget } from '../policy';
import { bmcTextFor, bmcTextsIn, readsEverything } from './bmc-texts';

export const eventRules = {
  node: 'baremetal:node:get',
  run: 'temper:run:get',
  rollout: 'temper:rollout:get',
  target: 'temper:rollout_target:get',
} as const;

const mayReadOfRollout = (policy: Policy, who: Caller, event: SeenEvent): boolean => {
  const { node_uuid, now_owner, now_lessee, target_owner, target_lessee } = event;
  const rollout = rolloutTarget({ project: event.rollout_project, requester: event.rollout_requester });
  if (policy.allows(eventRules.rollout, who, rollout)) return true;
  const now = nodeTarget({ owner: now_owner, lessee: now_lessee });
  return (
    node_uuid !== null &&
    policy.allows(eventRules.target, who, nodeTarget({ owner: target_owner, lessee: target_lessee })) &&
    policy.allows(eventRules.target, who, now) &&
    policy.allows(eventRules.node, who, now)
  );
};

export const mayReadEvent = (policy: Policy, who: Caller, event: SeenEvent): boolean => {
  const { now_owner: owner, now_lessee: lessee, tenant } = event;
  if (event.rollout_id !== null) return mayReadOfRollout(policy, who, event);
  return event.run_id === null
    ? policy.allows(eventRules.node, who, nodeTarget({ owner, lessee: tenant }))
    : policy.allows(eventRules.run, who, runTarget({ owner, lessee, tenant }));
};

const plainKinds = kindsWith('plain');

/** The event as this caller may read it, after `mayReadEvent`. */
export const eventView = (policy: Policy, who: Caller, event: SeenEvent) => {
  const { seq, at, kind, node_uuid, run_id, rollout_id, now_owner: owner, now_lessee: lessee } = event;
  const whole = run_id !== null || rollout_id !== null || plainKinds.includes(kind) || readsEverything(policy, who);
  const data = whole ? bmcTextsIn(maskSecrets(event.data), bmcTextFor(policy, who, { owner, lessee })) : {};
  const of = { node_uuid, run_uuid: run_id, rollout_uuid: rollout_id };
  return { seq, at: at.toISOString(), kind, ...of, data: data as Record<string, unknown> };
};

/** Undefined if the caller may not read it. */
export const visibleEvent = (policy: Policy, who: Caller, event: SeenEvent) =>
  mayReadEvent(policy, who, event) ? eventView(policy, who, event) : undefined;

/** For deliveries to a project, which have no caller: a reader of the project. */
export const readerOf = (project_id: string): Caller => ({ ...anonymous, project_id, roles: expandRoles(['reader']) });
