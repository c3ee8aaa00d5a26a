/** Report of a rollout: a page to print, and its rows as CSV. */
import type { Request, Response } from 'express';
import type { Rollout, RolloutProgress, RolloutTarget, RolloutWave } from '../../wire/rollouts';
import { Table } from '../parts/tables';
import { Facts, personOf, State, Title } from '../parts/texts';
import type { PageAnswer, PageContext } from '../server/context';
import { csvParts, leavingOf, sendSheet } from '../server/sheets';
import { answerText } from './consent';
import { starterOf } from './rollout';
import { targetWord, tookText } from './rollout-nodes';
import { partsText } from './rollout-progress';
import { rolloutAddress, rolloutTitle, workOf } from './rollouts';

const reportPath = (params: PageContext['params']): string =>
  `/temper/v1/rollouts/${encodeURIComponent(params.rollout!)}`;

/** A page to print shows whole times. */
const atText = (at: string | null | undefined): string | null => (at ? at.slice(0, 19).replace('T', ' ') : null); // biome-ignore format: one line

const mostRows = 1_000;

const Summary = ({ rollout, progress }: { rollout: Rollout; progress: RolloutProgress | undefined }) => (
  <Facts
    rows={[
      ['Work', workOf(rollout)],
      ['State', rollout.state],
      ['Planned by', rollout.requester && personOf(rollout.requester)],
      ['Planned', atText(rollout.created_at)],
      ['Approvals needed', rollout.approvers],
      ['Started by', rollout.started_at && rollout.grant && personOf(starterOf(rollout))],
      ['Started', atText(rollout.started_at)],
      ['Reason', rollout.waves?.[0]?.opened_reason],
      ['Ended', atText(rollout.finished_at)],
      ['Outcome', rollout.reason],
      ['Nodes', progress && `${progress.nodes}: ${partsText(progress)}`],
      ['Not in the plan', rollout.summary?.refused.reduce((all, { nodes }) => all + nodes, 0) || null],
      ['Plan', rollout.plan_hash],
    ]}
  />
);

const WaveTable = ({ waves }: { waves: readonly RolloutWave[] }) => (
  <Table
    caption="Waves"
    heading
    rows={waves}
    columns={[
      { title: 'Wave', of: ({ wave }) => wave },
      { title: 'Nodes', of: ({ size }) => size },
      { title: 'Opened', of: ({ opened_at }) => atText(opened_at) },
      { title: 'Opened by', of: ({ opened_by }) => opened_by && personOf(opened_by) },
      { title: 'Reason', long: true, of: ({ opened_reason }) => opened_reason },
      { title: 'Over', of: ({ closed_at }) => atText(closed_at) },
    ]}
  />
);

const consentText = ({ answer }: RolloutTarget): string | null =>
  answer && `${answerText(answer)}, by ${personOf(answer.by)}, ${atText(answer.given_at)}`;

const NodeTable = ({ targets }: { targets: readonly RolloutTarget[] }) => (
  <Table
    caption="Nodes"
    heading
    rows={targets}
    columns={[
      { title: 'Node', of: ({ node_name, node_uuid }) => node_name ?? node_uuid },
      { title: 'Result', of: (one) => <State is={targetWord(one)} /> },
      { title: 'Wave', of: ({ wave }) => wave },
      { title: 'Started', of: ({ admitted_at }) => atText(admitted_at) },
      { title: 'Took', of: tookText },
      ...(targets.some(({ answer }) => answer) ? [{ title: 'Consent', long: true, of: consentText }] : []),
      { title: 'Why', long: true, of: ({ reason, code }) => reason ?? code },
    ]}
    empty="No nodes."
  />
);

export const rolloutReportPage = async ({ api, params }: PageContext): Promise<PageAnswer> => {
  const path = reportPath(params);
  const [rollout, targets] = await Promise.all([
    api.get<Rollout>(path),
    api.list<RolloutTarget>(`${path}/targets`, { limit: mostRows }),
  ]);
  const progress = rollout.plan_hash === undefined ? undefined : await api.get<RolloutProgress>(`${path}/progress`);
  const address = rolloutAddress(rollout);
  const title = `Report: ${rolloutTitle(rollout)}`;
  const body = (
    <>
      <Title text={title} end={<a class="button" href={`${address}/report.csv`}>Download CSV</a>}>
        <State is={rollout.state} />
      </Title>
      <p class="muted">As of {atText(new Date().toISOString())}. All times are in UTC.</p>
      <Summary rollout={rollout} progress={progress} />
      {rollout.waves && <WaveTable waves={rollout.waves} />}
      <NodeTable targets={targets} />
      {targets.length === mostRows && <p class="muted">The page shows the first {mostRows} nodes. The CSV has all.</p>}
    </>
  ); // biome-ignore format: short parts
  return { title, crumbs: [[address, rolloutTitle(rollout)]], body };
};

/** As many as a rollout can have. */
const mostSheetRows = 100_000;

/** All rows that the API shows to the caller. */
export const rolloutSheet = async (context: PageContext, _request: Request, response: Response): Promise<void> => {
  const parts = csvParts(context, `${reportPath(context.params)}/targets`, {}, leavingOf(response));
  await sendSheet(response, { name: 'rollout', type: 'csv', parts, most: mostSheetRows });
};
