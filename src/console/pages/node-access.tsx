/** Rights of the caller on a node, by rule, and the audit trail of the node. */
import type { AuditEntry } from '../../wire/policy';
import { type Answers, Refused } from '../parts/acts';
import { Pager, pageOf, pageSize, Table } from '../parts/tables';
import { Empty, State } from '../parts/texts';
import { type Api, addressWith, type PageQuery } from '../server/api';
import type { PageContext } from '../server/context';
import type { NodeView } from '../views';
import { nodeAuditColumns } from './audit-columns';

const access: readonly (readonly [title: string, rules: readonly (readonly [label: string, rule: string])[]])[] = [
  ['See', [
    ['Last error', 'baremetal:node:get:last_error'],
    ['Lock', 'baremetal:node:get:reservation'],
    ['Credentials and address of the BMC', 'baremetal:node:get:driver_info'],
    ['Inventory', 'baremetal:node:inventory:get'],
    ['BIOS settings', 'baremetal:node:bios:get'],
    ['Firmware', 'baremetal:node:firmware:get'],
    ['Networks', 'baremetal:node:vif:list'],
    ['Audit trail', 'temper:node:audit:get'],
  ]],
  ['Use', [
    ['Deploy, rescue, tear down and other verbs', 'baremetal:node:set_provision_state'],
    ['Power', 'baremetal:node:set_power_state'],
    ['Run runbooks', 'temper:node:run_runbook'],
    ['Preview', 'temper:node:steps'],
    ['Set the image', 'baremetal:node:update_instance_info'],
    ['Attach networks', 'baremetal:node:vif:attach'],
    ['Serial console', 'baremetal:node:set_console_state'],
  ]],
  ['Operate', [
    ['Set maintenance', 'baremetal:node:set_maintenance'],
    ['Leave maintenance', 'baremetal:node:clear_maintenance'],
    ['Freeze', 'temper:freeze:create'],
    ['Change the node', 'baremetal:node:update'],
    ['Change its owner', 'baremetal:node:update:owner'],
    ['Change its lessee', 'baremetal:node:update:lessee'],
    ['Delete the node', 'baremetal:node:delete'],
  ]],
]; // biome-ignore format: one rule a row

export const accessRules: readonly string[] = access.flatMap(([, rules]) => rules.map(([, rule]) => rule));

type AccessProps = { readonly node: NodeView; readonly answers: Answers; readonly session: PageContext['session'] };

export const NodeAccess = ({ node, answers, session }: AccessProps) => (
  <>
    <p class="muted">
      What you ({session.name}, {session.scope}) may do on this node, by the rules of the policy. Its state can still refuse an act.
    </p>
    {access.map(([title, rules]) => (
      <section key={title}>
        <h2>{title}</h2>
        <Table
          caption={title}
          rows={rules.map(([label, rule]) => ({ label, rule, answer: answers.get(rule) }))}
          columns={[
            { title: 'Act', of: ({ label }) => label },
            { title: 'Answer', of: ({ answer }) => <State is={answer?.allowed ? 'allowed' : 'denied'} tone={answer?.allowed ? 'good' : 'idle'} /> },
            { title: 'Rule', of: ({ rule }) => <code>{rule}</code> },
            { title: 'Why', long: true, of: ({ answer }) => answer && !answer.allowed && <Refused answer={answer} about={{ kind: 'node', object: node.uuid }} /> },
          ]}
        />
      </section>
    ))}
  </>
); // biome-ignore format: one column a row

export const trailOf = (api: Api, node: NodeView, { marker }: PageQuery) =>
  api.findList<AuditEntry>('/temper/v1/audit', { node: node.uuid, limit: pageSize + 1, marker });

type TrailProps = {
  readonly path: string;
  readonly node: NodeView;
  readonly query: PageQuery;
  readonly rows: readonly AuditEntry[] | undefined;
};

export const NodeTrail = ({ path, node, query: { marker }, rows }: TrailProps) => {
  const { shown, next } = pageOf(rows ?? [], ({ seq }) => String(seq));
  return (
    <>
      {rows && (
        <p class="acts">
          <a class="button" href={addressWith('/audit', { node: node.name ?? node.uuid })}>Filter and export</a>
          <a class="button" href={addressWith('/audit/timeline', { node: node.name ?? node.uuid })}>Timeline of this node</a>
        </p>
      )}
      <Table caption="Audit" rows={rows && shown} columns={nodeAuditColumns} empty={<Empty icon="scroll-text" title="No entries yet" />} />
      {!rows && <p class="muted">Readers of the node’s owner and of its lessee can read it. Activity shows who started each run.</p>}
      <Pager path={path} query={{ marker }} next={next} />
    </>
  );
}; // biome-ignore format: short parts
