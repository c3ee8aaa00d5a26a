/** Dry run of a runbook on a node, with every reason to refuse it. */

import type { NodePlan } from '../../wire/runs';
import { ActForm, Send } from '../parts/forms';
import { Code, Facts, Notice, spanOf, Title } from '../parts/texts';
import type { PageAnswer, PageContext } from '../server/context';

const erasesText = (erases: boolean | null): string => {
  if (erases === null) return 'may be erased; only the ramdisk or the BMC knows';
  return erases ? 'is erased' : 'stays';
};

/** Result, refusals, effects and steps of a plan. */
export const PlanOf = ({ plan }: { plan: NodePlan }) => (
  <>
    <Notice tone={plan.would_run ? 'good' : 'bad'} says={`Preview: this would ${plan.would_run ? 'run' : 'be refused'}. Nothing was changed.`} />
    {[...plan.refusals, ...plan.concerns].map(({ code, rule, reason }) => (
      <p key={code + reason} class={plan.would_run ? 'wait' : 'bad'}>
        {code}: {reason} {rule && <a href={`/policy?rule=${encodeURIComponent(rule)}`}>{rule}</a>}
      </p>
    ))}
    <Facts
      rows={[
        ['Power', plan.power_cycles > 0 ? `${plan.power_cycles} restarts` : 'stays on'],
        ['Data', erasesText(plan.erases)],
        ['Usually takes', plan.expected_ms && spanOf(plan.expected_ms)],
      ]}
    />
    <h3>Steps</h3>
    <ol class="timeline">
      {plan.steps.map((step) => (
        <li key={step.index}>
          <b>{`${step.interface}.${step.step}`}</b>{' '}
          {step.expected_ms && <span class="muted">usually takes {spanOf(step.expected_ms)}</span>}
          <p class="muted">{step.acts.map(({ description }) => description).join('; ')}</p>
          {step.args ? <Code value={step.args} /> : <p class="muted">Its arguments are hidden.</p>}
        </li>
      ))}
    </ol>
  </>
); // biome-ignore format: short parts

export const nodePlanPage = async ({ api, params, session, query }: PageContext): Promise<PageAnswer> => {
  const [node, runbook] = [encodeURIComponent(params.node!), query.runbook ?? ''];
  const asked = { runbook, ...(query.verb && { target: query.verb }) };
  const plan = await api.ask<NodePlan>(`/temper/v1/nodes/${node}/plan`, asked);
  const name = plan.node_name ?? plan.node_uuid;
  const body = (
    <>
      <Title text={`${plan.verb} with ${runbook}`} />
      <PlanOf plan={plan} />
      {plan.would_run && (
        <ActForm session={session} action={`/nodes/${node}/acts`} fields={{ what: 'verb', verb: plan.verb, runbook }}>
          <Send tone="primary" label="Run" />
        </ActForm>
      )}
    </>
  ); // biome-ignore format: short parts
  return { title: 'Preview', crumbs: [[`/nodes/${node}`, name]], body };
};
