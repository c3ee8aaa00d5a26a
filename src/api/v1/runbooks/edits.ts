/** Writes of /v1/runbooks: create, patch, delete; each one transaction with its audit row and event. */
import { z } from 'zod';
import type { Queries } from '../../../inventory';
import { quotaProject } from '../../../model/access/callers';
import { secretRefs } from '../../../model/access/secrets';
import { type Runbook, runbooksSince, runbookTable, runbookTableAt } from '../../../model/resources/runbooks';
import { runbookTarget } from '../../../policy';
import { type AuditContext, auditAndEvent, type ResourceWrite, resourceChange } from '../../audit/record';
import { quotasOf, type Rooms } from '../../context';
import { created, noContent, ok, route } from '../../http/route';
import { stepRuleNames } from '../../orders/steps';
import { sealAll } from '../../resource/document-secrets';
import { refusingDuplicates } from '../../resource/duplicates';
import { attributesOf, checkAttributes, type Operation, patchBody, rulesFor } from '../../resource/patch';
import { operatorTraitRules, requireOperatorMarks } from '../nodes/operator-traits';
import { runbookCollection, runbookParams, runbookPath, shownRunbook } from './representation';
import { requireSteps } from './steps';
import { claimMarks, shareTrait } from './trait-claims';
import { findVisibleRunbook } from './visibility';
import { warningHeaders } from './warnings';
import { newRunbook, patchedRunbook } from './writes';

type Params = z.output<typeof runbookParams>;

/** A runbook runs on nodes of any conductor group. */
const holdingOf = (uuid: string) => ({ holder: 'runbook', holder_id: uuid, groups: 'all' }) as const;

const createRunbook = route({
  method: 'POST',
  path: runbookCollection,
  since: runbooksSince,
  tooOld: 405,
  rules: ['baremetal:runbook:create', ...stepRuleNames, operatorTraitRules.runbook, shareTrait],
  body: z.unknown(),
  handler: async (asking, rooms) => {
    const { who, body, version, base } = asking;
    const policy = rooms.policy();
    policy.require('baremetal:runbook:create', who);
    const made = newRunbook(body, who, version, rooms.settings);
    const { values, secrets } = sealAll(rooms.vault, made, ['steps'], holdingOf(made.uuid));
    requireSteps(policy, who, values);
    requireOperatorMarks(rooms, who, values, { changes: ['steps'] });
    await rooms.inventory.quotas.require('runbooks', quotaProject(who), quotasOf(rooms).runbooks);
    const runbook = await refusingDuplicates(runbookTable, values, () =>
      rooms.inventory.transaction(async (inventory) => {
        const stored = await inventory.runbooks.insert(values);
        await inventory.secrets.insert(secrets);
        const rules = ['baremetal:runbook:create', ...(await claimMarks({ rooms, inventory, who }, undefined, stored))];
        const rule = rules.join(', ');
        await record(inventory, asking, rooms, { act: 'create', rule, values: stored, runbook: stored });
        return stored;
      }),
    );
    const { headers, ...answer } = created(
      shownRunbook.full(version).represent(runbook, { base }),
      `${base}${runbookCollection}/${runbook.uuid}`,
    );
    return { ...answer, headers: { ...headers, ...warningHeaders(rooms, runbook.steps) } };
  },
});

const updateRunbook = route<Params, unknown, Operation[]>({
  method: 'PATCH',
  path: runbookPath,
  since: runbooksSince,
  tooOld: 405,
  rules: [
    'baremetal:runbook:get',
    'baremetal:runbook:update',
    'baremetal:runbook:update:public',
    'baremetal:runbook:update:owner',
    ...stepRuleNames,
    operatorTraitRules.runbook,
    shareTrait,
  ],
  params: runbookParams,
  body: patchBody,
  handler: async (asking, rooms) => {
    const { who, params, body, version, base } = asking;
    checkAttributes(runbookTableAt(version), body, version);
    const named = rulesFor(runbookTable, body);
    const rules = named.length > 0 ? named : ['baremetal:runbook:update'];
    const policy = rooms.policy();
    const runbook = await rooms.inventory.transaction(async (inventory) => {
      const stored = await findVisibleRunbook({ ...rooms, inventory }, who, params.runbook_ident, { lock: true });
      for (const rule of rules) policy.require(rule, who, runbookTarget(stored));
      const patched = patchedRunbook(stored, body, rooms.settings);
      const { values, secrets } = sealAll(rooms.vault, patched, ['steps'], holdingOf(stored.uuid));
      const changes = attributesOf(body);
      if (changes.includes('steps')) requireSteps(policy, who, values);
      requireOperatorMarks(rooms, who, stored, { name: values.name, changes });
      const changed = await refusingDuplicates(runbookTable, values, () =>
        inventory.runbooks.update(stored.uuid, values),
      );
      await inventory.secrets.insert(secrets);
      await inventory.secrets.prune('runbook', stored.uuid, secretRefs(changed.steps));
      const what = Object.fromEntries(attributesOf(body).map((name) => [name, changed[name as keyof Runbook]]));
      const admitted = [...rules, ...(await claimMarks({ rooms, inventory, who }, stored, changed))].join(', ');
      await record(inventory, asking, rooms, { act: 'update', rule: admitted, values: what, runbook: changed });
      return changed;
    });
    const answer = ok(shownRunbook.full(version).represent(runbook, { base }));
    return attributesOf(body).includes('steps') ? { ...answer, headers: warningHeaders(rooms, runbook.steps) } : answer;
  },
});

const deleteRunbook = route<Params>({
  method: 'DELETE',
  path: runbookPath,
  since: runbooksSince,
  tooOld: 405,
  rules: ['baremetal:runbook:get', 'baremetal:runbook:delete'],
  params: runbookParams,
  handler: async (asking, rooms) => {
    const rule = 'baremetal:runbook:delete';
    await rooms.inventory.transaction(async (inventory) => {
      const stored = await findVisibleRunbook({ ...rooms, inventory }, asking.who, asking.params.runbook_ident, {
        lock: true,
      });
      rooms.policy().require(rule, asking.who, runbookTarget(stored));
      await inventory.runbooks.delete(stored.uuid);
      await inventory.secrets.prune('runbook', stored.uuid, []);
      await record(inventory, asking, rooms, { act: 'delete', rule, values: {}, runbook: stored });
    });
    return noContent();
  },
});

/** Writes the audit row and the event of a write to a runbook, which its owner's project reads. Belongs into its transaction. */
export const record = (
  inventory: Queries,
  asking: AuditContext,
  rooms: Rooms,
  { runbook, ...write }: Pick<ResourceWrite, 'act' | 'rule' | 'values'> & { readonly runbook: Runbook },
): Promise<void> => {
  const { uuid, owner: project, name, public: open } = runbook;
  const facts = { name, public: open };
  const change = resourceChange({ ...write, resource: 'runbook', uuid, project, facts });
  return auditAndEvent(inventory, rooms.policy(), asking, change);
};

export const runbookEditRoutes = [createRunbook, updateRunbook, deleteRunbook];
