/** `temper replay`: replays a run's history against this build. */
import type { Command } from 'commander';
import type { Run } from '../../wire/runs';
import type { Acting, Context } from '../context';
import { exits } from '../faults';
import { findRun } from '../runs/find-run';
import { plainText } from '../tables';

/** Workflow id, which needs no API: a prefix with a UUID, or a scheduled time. Node names may hold dots, but no colon. */
const workflow = /:|[.-][0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/;

const replay = async (context: Context, ident: string): Promise<void> => {
  const of = workflow.test(ident)
    ? ident
    : ((await context.api.send('GET', `/temper/v1/runs/${encodeURIComponent(await findRun(context, ident))}`)) as Run);
  const { events, fault } = await context.installation().replay(of);
  context.print({ events, fault }, () =>
    fault === null
      ? `This build replays all ${events} events.\n`
      : `This build does not replay this run: ${plainText(fault)}\nIts workers must not take the run over; see docs/changing-workflows.md.\n`,
  );
  context.end(fault === null ? exits.ok : exits.refused);
};

export const addReplay = (program: Command, acting: Acting): void => {
  program
    .command('replay')
    .description('replay the history of a run against this build; needs TEMPER_TEMPORAL_ADDRESS')
    .argument('<run>', 'UUID of a run, its first characters, a node, or the id of a workflow')
    .action(acting(replay));
};
