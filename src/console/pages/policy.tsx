/** Policy page: explains a rule's decision on an object. */

import type { CanAnswer, Explanation, PolicyHistory } from '../../wire/policy';
import { askedRules, deniedText } from '../parts/acts';
import { Choice, Field, Send } from '../parts/forms';
import { Table } from '../parts/tables';
import { Code, State, Time, Title } from '../parts/texts';
import { ApiRefusal, type PageQuery } from '../server/api';
import type { PageAnswer, PageContext } from '../server/context';

const objectKinds = ['node', 'run', 'runbook', 'allocation', 'rollout'] as const;
/** For a rollout the API returns the decision without an explanation. */
const unexplained = 'rollout';

type Part = NonNullable<Explanation['tree']>;

const Tree = ({ part }: { part: Part }) => (
  <li>
    <State is={part.verdict} tone={part.verdict === 'true' ? 'good' : part.verdict === 'false' ? 'bad' : 'idle'} />{' '}
    <code>{part.text}</code>
    {part.compared && (
      <span class="muted">
        {' '}
        you: {part.compared.caller.join(', ') || 'nothing'}; wanted: {part.compared.wanted ?? 'nothing'}
      </span>
    )}
    {part.parts && part.parts.length > 0 && (
      <ul class="tree">
        {part.parts.map((inner) => (
          <Tree key={inner.text} part={inner} />
        ))}
      </ul>
    )}
  </li>
);

const Form = ({ query, kind }: { query: PageQuery; kind: string }) => (
  <form method="get" action="/policy" class="row" aria-label="Question">
    <Field label="Rule" name="rule" value={query.rule} required hint="For example temper:run:skip" />
    <Choice label="About" name="kind" value={kind} options={[['', 'nothing'], ...objectKinds]} />
    <Field label="Name or ID" name="object" value={query.object} />
    <Field label="As role" name="roles" value={query.roles} hint="System readers only" />
    <Field label="In project" name="project" value={query.project} />
    <Send tone="primary" label="Check" />
  </form>
);

type Why = { readonly explanation?: Explanation; readonly refused?: string };

type AnswerProps = Why & Pick<PageContext, 'session'> & { readonly answer: CanAnswer | undefined };

const Answer = ({ answer, explanation, refused, session }: AnswerProps) => (
  <section class="card">
    <h2>Answer</h2>
    {answer && (
      <p>
        You ({session.name}, {session.scope}): <State is={answer.allowed ? 'allowed' : 'denied'} />{' '}
        {!answer.allowed && deniedText(answer)}
      </p>
    )}
    {explanation && (
      <>
        <p>
          For that caller: <State is={explanation.answer === 'missing' ? 'denied' : explanation.answer} />{' '}
          {explanation.why && `by its ${explanation.why}`}
        </p>
        <ul class="tree">{explanation.tree && <Tree part={explanation.tree} />}</ul>
      </>
    )}
    {refused && <p class="muted">The rule’s parts are hidden: {refused}</p>}
  </section>
);

const explanationOf = async ({ api, query }: PageContext, about: Readonly<Record<string, string>>): Promise<Why> => {
  const asked = { rule: query.rule, ...about, roles: query.roles, project_id: query.project };
  try {
    return { explanation: await api.get<Explanation>('/temper/v1/policy/explain', asked) };
  } catch (thrown) {
    if (!(thrown instanceof ApiRefusal) || thrown.status === 401 || thrown.status >= 500) throw thrown;
    return { refused: thrown.says };
  }
};

const InForce = ({ history, texts }: { history: PolicyHistory; texts: PolicyHistory | undefined }) => (
  <section id="history">
    <Table
      heading
      caption="Policy history"
      rows={history.history}
      columns={[
        { title: 'Since', of: (one) => <Time at={one.first_at} /> },
        { title: 'Hash', of: (one) => <a href={`/policy?hash=${one.rule_set}#history`}><code>{one.rule_set}</code></a> }, // biome-ignore format: one cell
        { title: 'Set', of: ({ set, mode }) => `${set}, ${mode}` },
        { title: 'Files', of: ({ files }) => files.map(({ path }) => path).join(', ') || 'none' },
      ]}
      empty="No history yet"
    />
    {texts?.history[0]?.files.map(({ path, text }) => (
      <div key={path}>
        <h3>{path}</h3>
        <pre>
          <Code value={text ?? ''} />
        </pre>
      </div>
    ))}
  </section>
);

export const policyPage = async (context: PageContext): Promise<PageAnswer> => {
  const { api, query } = context;
  const kind = objectKinds.find((one) => one === query.kind) ?? '';
  const about: Record<string, string> = kind !== '' && query.object ? { [kind]: query.object } : {};
  const target = kind === 'rollout' && query.node ? { node: query.node } : {};
  const rule = query.rule;
  const [answers, why, history, texts] = await Promise.all([
    rule ? askedRules(api, [{ rule, ...about, ...target }]) : undefined,
    rule && kind !== unexplained ? explanationOf(context, about) : undefined,
    api.find<PolicyHistory>('/temper/v1/policy/history', { limit: 20 }),
    query.hash ? api.find<PolicyHistory>('/temper/v1/policy/history', { hash: query.hash }) : undefined,
  ]);
  const body = (
    <>
      <Title text="Policy" />
      <p class="muted">Check what you may do, on an object or in general. System readers can check other callers.</p>
      <Form query={query} kind={kind} />
      {rule && <Answer answer={answers?.get(rule)} {...why} session={context.session} />}
      {history && <InForce history={history} texts={texts} />}
    </>
  );
  return { title: 'Policy', body };
};
