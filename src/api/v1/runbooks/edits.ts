/** Writes of /v1/runbooks: create, patch, delete; each one transaction with its audit row and event. */
import { z } from 'zod';
import type { Queries } from '../../../inventory';
import { quotaProject } from '../../../model/access/callers';
import { maskSecrets, secretRefs } from '../../../model/access/secrets';
import { type Runbook, runbooksSince, runbookTable, runbookTableAt } from '../../../model/resources/runbooks';
import { runbookTarget } from '../../../policy';
import { quotasOf, type Rooms } from '../../context';
import { type Asking, auditedBy, created, noContent, ok, route } from '../../http/route';
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
        await record(inventory, asking, rooms, { act: 'create', kind: 'created' }, stored, rules.join(', '), stored);
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
      await record(inventory, asking, rooms, { act: 'update', kind: 'updated' }, changed, admitted, what);
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
      await record(inventory, asking, rooms, { act: 'delete', kind: 'deleted' }, stored, rule, {});
    });
    return noContent();
  },
});

/** Writes who did what to a runbook, and tells of it. Belongs into the transaction of the change. */
export const record = async (
  inventory: Queries,
  asking: Pick<Asking<unknown, unknown, unknown>, 'who' | 'requestId' | 'origin'>,
  rooms: Rooms,
  { act, kind }: { readonly act: string; readonly kind: string },
  runbook: Runbook,
  rule: string,
  data: Readonly<Record<string, unknown>>,
): Promise<void> => {
  await inventory.audit.write({
    ...auditedBy(asking),
    action: `runbook.${act}`,
    rule,
    rule_set: rooms.policy().hash,
    resource: 'runbook',
    resource_id: runbook.uuid,
    data: maskSecrets(data) as Record<string, unknown>,
  });
  await inventory.events.append({
    kind: `runbook.${kind}`,
    project: runbook.owner,
    data: { runbook_uuid: runbook.uuid, name: runbook.name, public: runbook.public, changed: Object.keys(data) },
  });
};

export const runbookEditRoutes = [createRunbook, updateRunbook, deleteRunbook];
