/** The chapter in which processes are killed and the run goes on. */
import { ask, newestRun, rests, until } from './nodes';
import { type Json, type RackEntry, readSystem, type Scene } from './system';
import type { Teller } from './tell';

const within = 240_000;

/** The lessee runs the public runbook on its node; the rack misbehaves, two processes die; the run ends well. */
export const crashChapter = async (scene: Scene, runbook: string, teller: Teller): Promise<void> => {
  teller.chapter('The lessee services its node while processes are killed');
  const { lessee, operator } = scene.people;
  const node = scene.names[0]!;
  const bmc = (await scene.rack.bmcs()).find(({ name }) => name === node)!;
  const before = await scene.rack.accepted(bmc.index);
  const since = before.at(-1)?.seq ?? 0;
  await scene.rack.fault(bmc.index, { kind: 'http-503', remaining: 2, retryAfter: 1 });
  await ask(lessee, node, 'service', { runbook });
  teller.says('lessee', `services ${node} with ${runbook}; its BMC answers 503 for a while`);
  const retried = await until('a retry to show', within, async () => retriedStep(await newestRun(lessee, node)));
  teller.claim(
    'a retry is shown while it lasts',
    true,
    `step ${retried.step}, attempt ${retried.attempts}: ${retried.last_error}`,
  );

  const isOff = (entry: RackEntry) => JSON.stringify(entry.content).includes('ForceOff');
  await until('the power-off to be accepted', within, async () =>
    (await scene.rack.accepted(bmc.index, since)).find(isOff),
  );
  const worker = kill(scene, 'worker-bmc-default');
  teller.says('(fault)', `kill -9 of the BMC worker (pid ${worker}) while the node powers off`);
  const control = kill(scene, 'worker-control');
  teller.says('(fault)', `kill -9 of the control worker (pid ${control})`);
  await rests(lessee, node, 'active', within);
  const run = await newestRun(lessee, node);
  teller.claim('the run goes on and ends', run.state === 'succeeded', `${run.state} after both were killed`);

  const accepted = await scene.rack.accepted(bmc.index, since);
  const twice = repeated(accepted);
  teller.claim(
    'no command was accepted twice',
    twice.length === 0 && accepted.length > 0,
    twice.length === 0
      ? `${accepted.length} commands, each once: ${accepted.map(brief).join(', ')}`
      : `twice: ${twice.join(', ')}`,
  );
  timeline(await operator.must('GET', `/temper/v1/runs/${run.uuid}`), teller);
};

const retriedStep = (run: Json): Json => run?.steps.find((step: Json) => step.attempts > 1 && step.last_error);

/** Kills one process by the supervisor's own record. @returns its pid */
const kill = (scene: Scene, name: string): number => {
  const found = readSystem(scene.systemFile).processes.find((one) => one.name === name);
  if (!found) throw new Error(`no process ${name} in ${scene.systemFile}`);
  process.kill(found.pid, 'SIGKILL');
  return found.pid;
};

const repeated = (entries: readonly RackEntry[]): string[] => {
  const keys = entries.map((entry) => `${entry.method} ${entry.path} ${JSON.stringify(entry.content)}`);
  return keys.filter((key, index) => keys.indexOf(key) !== index);
};

const brief = (entry: RackEntry): string => {
  const content = entry.content as Json;
  return (
    content?.ResetType ??
    content?.Boot?.BootSourceOverrideTarget ??
    content?.IndicatorLED ??
    (content?.LocationIndicatorActive === undefined ? `${entry.method} ${entry.path.split('/').at(-1)}` : 'light')
  );
};

const timeline = (run: Json, teller: Teller): void => {
  teller.note('');
  teller.note(
    `Run ${run.uuid}: ${run.verb} ${run.runbook?.name ?? ''}, asked by ${run.requester.user_name}, ${run.state}`,
  );
  teller.note(`${'step'.padEnd(32)}${'state'.padEnd(10)}${'attempts'.padEnd(10)}${'began'.padEnd(14)}took`);
  for (const step of run.steps) {
    const took = step.finished_at
      ? `${((Date.parse(step.finished_at) - Date.parse(step.started_at)) / 1_000).toFixed(1)} s`
      : '';
    teller.note(
      `${`${step.interface}.${step.step}`.padEnd(32)}${step.state.padEnd(10)}${String(step.attempts).padEnd(10)}${(step.started_at ?? '').slice(11, 23).padEnd(14)}${took}`,
    );
  }
  if (run.links?.temporal_ui) teller.note(`In Temporal's UI: ${run.links.temporal_ui}`);
};
