/** `temper audit`: the audit trail, by node, day, person and verdict. */
import { type Command, Option } from 'commander';
import { verdicts } from '../../model/resources/audit';
import type { AuditEntry } from '../../wire/policy';
import { type PageOptions, pageOptions, printPage } from '../access/pages';
import type { Acting, Context } from '../context';
import { listing } from '../tables';

const filters = ['node', 'project', 'run', 'user', 'action', 'verdict', 'request', 'since', 'until'] as const;
type AuditOptions = PageOptions & Readonly<Partial<Record<(typeof filters)[number], string>>>;

type Reasons = { readonly reason?: unknown; readonly maintenance_reason?: unknown };

const reasonIn = (data: unknown): unknown => {
  const { reason, maintenance_reason } = (data ?? {}) as Reasons;
  return reason ?? maintenance_reason;
};

const auditTable = listing<AuditEntry>(
  'audit rows',
  ['SEQ', 'AT', 'WHO', 'PROJECT', 'ACTION', 'NODE', 'VERDICT', 'RULE', 'REASON'],
  ({ seq, at, who, action, node_name, node_uuid, verdict, rule, data }) => [
    seq,
    at,
    who.user_name ?? who.user_id,
    who.project_name ?? who.project_id,
    action,
    node_name ?? node_uuid,
    verdict,
    rule,
    reasonIn(data),
  ],
);

const listAudit = (context: Context, asked: AuditOptions): Promise<void> =>
  printPage<AuditEntry>(context, { path: '/temper/v1/audit', rows: 'audit' }, asked, auditTable);

export const addAudit = (program: Command, acting: Acting): void => {
  pageOptions(
    program
      .command('audit')
      .description('list who requested which change, newest first; tenants name one of their nodes')
      .option('--node <node>', 'name or UUID')
      .option('--project <project>', 'asked by this project, or about its nodes')
      .option('--run <run>', 'UUID')
      .option('--user <user>', 'name or ID')
      .option('--action <action>', 'such as node.update')
      .addOption(new Option('--verdict <verdict>', 'how the request ended').choices([...verdicts]))
      .option('--request <id>', 'all rows of one request')
      .option('--since <time>', 'a day such as 2026-10-01, or a time with its zone')
      .option('--until <time>', 'a day, which is included, or a time with its zone'),
    'seq',
  ).action(acting(listAudit));
};
