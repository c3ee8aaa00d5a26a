/** Columns of audit rows: when, who, what, the reason, the values before and after, and the rule that decided. */
import type { AuditEntry } from '../../wire/policy';
import { actOf, type Difference, differencesOf, givenReason, roleOf, valueText } from '../parts/audit-words';
import type { Column } from '../parts/tables';
import { Code, Facts, Id, NodeLink, personOf, State } from '../parts/texts';
import { addressWith } from '../server/api';

/** A day and a time in UTC, to the second. */
export const Moment = ({ at }: { at: string }) => (
  <time datetime={at} title={at} class="clock">
    {at.slice(0, 10)} <b>{at.slice(11, 19)}</b>
  </time>
);

const Who = ({ who }: AuditEntry) => {
  const scope = who.project_name ?? who.project_id ?? (who.system_scope ? 'system' : undefined);
  const standing = [roleOf(who.roles), scope].filter(Boolean).join(', ');
  return (
    <>
      {personOf(who)}
      {standing && <div class="muted">{standing}</div>}
    </>
  );
};

const Subject = ({ entry }: { entry: AuditEntry }) => {
  const { node_uuid, node_name = null, resource, resource_id: id, run_uuid: run } = entry;
  if (node_uuid) return <NodeLink uuid={node_uuid} name={node_name} />;
  if (run) return <>run <Id id={run} href={`/runs/${run}`} /></>;
  if (!id) return null;
  return resource === 'rollout' ? <a href={`/rollouts/${encodeURIComponent(id)}`}>{id.slice(0, 8)}</a> : <Id id={id} />;
}; // biome-ignore format: one line each

export const Act = ({ entry }: { entry: AuditEntry }) => (
  <>
    {actOf(entry)} <Subject entry={entry} />
    {(entry.times ?? 1) > 1 && <span class="muted"> {entry.times} times</span>}
  </>
);

const mostLines = 8;

const DifferenceLine = ({ line: { field, ...line } }: { line: Difference }) => {
  const known = 'before' in line || 'after' in line;
  return (
    <li>
      <code>{field}</code>
      {'before' in line && <> <del>{valueText(line.before)}</del></>}
      {known && <> <span aria-hidden="true">→</span> <ins>{valueText(line.after)}</ins></>}
    </li>
  );
}; // biome-ignore format: one part a line

export const Differences = ({ entry }: { entry: AuditEntry }) => {
  const lines = differencesOf(entry);
  return lines.length === 0 ? null : (
    <ul class="diff">
      {lines.slice(0, mostLines).map((line) => (
        <DifferenceLine key={line.field} line={line} />
      ))}
      {lines.length > mostLines && <li class="muted">and {lines.length - mostLines} more</li>}
    </ul>
  );
};

/** A row may name several rules. */
const Rules = ({ rule, rule_set: hash }: AuditEntry) =>
  rule === null
    ? null
    : rule.split(', ').map((one) => (
        <div key={one}>
          <a href={addressWith('/audit/rule', { rule: one, hash: hash ?? undefined })}>
            <code>{one}</code>
          </a>
        </div>
      ));

const Details = ({ entry }: { entry: AuditEntry }) => {
  const { action, address, code, request_id: request, resource, resource_id: id, run_uuid: run, seq } = entry;
  return (
    <details id={`details-${seq}`}>
      <summary>Show</summary>
      <Facts
        rows={[
          ['Act', <code key="act">{action}</code>],
          ['Object', [resource, id].filter(Boolean).join(' ')],
          ['Error', code],
          ['From', address],
          ['Run', run && <Id id={run} href={`/runs/${run}`} />],
          ['Request', request && <a href={addressWith('/audit', { request })}>{request}</a>],
          ['Data', entry.data !== undefined && <Code value={entry.data} />],
        ]}
      />
    </details>
  );
};

const shared: Readonly<Record<'when' | 'who' | 'result', Column<AuditEntry>>> = {
  when: { title: 'When (UTC)', of: ({ at }) => <Moment at={at} /> },
  who: { title: 'Who', of: Who },
  result: { title: 'Result, by rule', long: true, of: (entry) => <><State is={entry.verdict} /><Rules {...entry} /></> },
}; // biome-ignore format: one column a row

const Changed = ({ entry, reason }: { entry: AuditEntry; reason?: string | undefined }) => (
  <>
    <Act entry={entry} />
    {reason && <p class="muted">{reason}</p>}
    <Differences entry={entry} />
  </>
);

export const auditColumns: readonly Column<AuditEntry>[] = [
  shared.when,
  shared.who,
  { title: 'Act, before → after', long: true, of: (entry) => <Changed entry={entry} /> },
  { title: 'Reason', long: true, of: givenReason },
  shared.result,
  { title: 'Details', of: (entry) => <Details entry={entry} /> },
];

/** For the narrow tab of a node. */
export const nodeAuditColumns: readonly Column<AuditEntry>[] = [
  shared.when,
  shared.who,
  { title: 'Act, before → after', long: true, of: (entry) => <Changed entry={entry} reason={givenReason(entry)} /> },
  shared.result,
];
