/** A rule as it was when it decided: its text at that time, or its tree if the same policy is in force. */
import type { Explanation, PolicyHistory } from '../../wire/policy';
import { Facts, Notice, Time, Title } from '../parts/texts';
import type { PageAnswer, PageContext } from '../server/context';

type RulePart = NonNullable<Explanation['tree']>;

const RuleTree = ({ part }: { part: RulePart }) => (
  <li>
    <code>{part.text}</code>
    {part.parts && part.parts.length > 0 && (
      <ul class="tree">
        {part.parts.map((inner) => (
          <RuleTree key={inner.text} part={inner} />
        ))}
      </ul>
    )}
  </li>
);

const ruleIn = (line: string): string | undefined => /^\s*["']?([\w:.-]+?)["']?\s*:(?:\s|$)/.exec(line)?.[1];

/** The line of a policy file that defines the rule, with the lines that continue it. */
const linesDefining = (text: string, rule: string): string | undefined => {
  const lines = text.split('\n');
  const at = lines.findIndex((line) => ruleIn(line) === rule);
  if (at < 0) return undefined;
  const more = lines.slice(at + 1).findIndex((line) => !/^\s+\S/.test(line));
  return lines.slice(at, more < 0 ? undefined : at + 1 + more).join('\n');
};

const WrittenThen = ({ rule, history }: { rule: string; history: PolicyHistory['history'][number] }) => {
  const written = history.files.flatMap(({ path, text = '' }) => {
    const lines = linesDefining(text, rule);
    return lines === undefined ? [] : [{ path, lines }];
  });
  return (
    <section class="card">
      <h2>In the policy of that time</h2>
      <Facts rows={[['In force since', <Time key="at" at={history.first_at} />], ['Set', history.set], ['Files', history.files.map(({ path }) => path).join(', ') || 'none']]} />
      {written.map(({ path, lines }) => <div key={path}><h3>{path}</h3><pre><code>{lines}</code></pre></div>)}
      {written.length === 0 && <p>No file named this rule, so the text of set <code>{history.set}</code> decided.</p>}
    </section>
  );
}; // biome-ignore format: short parts

export const auditRulePage = async ({ api, query }: PageContext): Promise<PageAnswer> => {
  const { rule = '', hash } = query;
  const [now, then] = await Promise.all([
    rule ? api.find<Explanation>('/temper/v1/policy/explain', { rule }) : undefined,
    hash ? api.find<PolicyHistory>('/temper/v1/policy/history', { hash }) : undefined,
  ]);
  const known = then?.history[0];
  const isSame = now !== undefined && now.rule_set === hash;
  const body = (
    <>
      <Title text={<code>{rule}</code>} />
      {hash && <Facts rows={[['Policy', <a href={`/policy?hash=${encodeURIComponent(hash)}#history`}><code>{hash}</code></a>]]} />}
      {known && <WrittenThen rule={rule} history={known} />}
      {now?.tree && (
        <section class="card">
          <h2>Today</h2>
          {hash && <p class="muted">{isSame ? 'The same policy is in force.' : 'Another policy is in force. The rule may read otherwise.'}</p>}
          <ul class="tree"><RuleTree part={now.tree} /></ul>
        </section>
      )}
      {!known && !now && <Notice tone="idle" says="Readers of the system see the text of a rule. You don’t have access to it." />}
    </>
  ); // biome-ignore format: short parts
  return { title: 'Rule', body };
};
