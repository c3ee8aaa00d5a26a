/** Serial console of a node: how to open it, or the first reason against it and whom to ask. */
import type { ComponentChildren } from 'preact';
import { interfaceOf } from '../../model/lifecycle/drivers';
import { type Answers, Refused } from '../parts/acts';
import { ActForm, Send } from '../parts/forms';
import { Code, Empty, Facts, Notice, nodeAddress, Project } from '../parts/texts';
import type { PageContext } from '../server/context';
import type { NodeView } from '../views';

const setRule = 'baremetal:node:set_console_state';

export const consoleRules: readonly string[] = [setRule];

/** Interfaces whose serial line a worker can open. */
const served: readonly string[] = ['ipmitool-socat'];

type ConsoleProps = {
  readonly node: NodeView;
  readonly answers: Answers;
  readonly frozen: boolean;
  readonly session: PageContext['session'];
};

const WhomToAsk = ({ node: { owner } }: { node: NodeView }): ComponentChildren =>
  owner ? <>Ask the managers of project <Project id={owner} />, which owns the node.</> : <>Ask the operators of this installation.</>; // biome-ignore format: one sentence

/** The first reason against opening it; undefined if it can be opened or enabled. */
const obstacleOf = ({ node, answers, frozen }: ConsoleProps): ComponentChildren => {
  const answer = answers.get(setRule);
  const has = interfaceOf({ ...node, driver: node.driver ?? '' }, 'console');
  if (!served.includes(has))
    return (
      <>
        <b>This node has no serial console.</b> Its driver {node.driver} has console interface <code>{has}</code>; only{' '}
        <code>{served.join(', ')}</code> offers one. An operator can change it if the BMC speaks IPMI. <WhomToAsk node={node} />
      </>
    );
  if (answer && !answer.allowed)
    return (
      <>
        <b>You can’t open it.</b> <Refused answer={answer} about={{ kind: 'node', object: node.uuid }} />{' '}
        <WhomToAsk node={node} />
      </>
    );
  return frozen ? <b>The node is frozen, so its console stays closed until the freeze ends.</b> : undefined;
}; // biome-ignore format: short parts

const Switch = ({ node, session }: Pick<ConsoleProps, 'node' | 'session'>) => {
  const on = node.console_enabled === true;
  return (
    <ActForm session={session} action={`${nodeAddress(node)}/acts`} fields={{ what: on ? 'console-off' : 'console-on' }}>
      <Send tone={on ? undefined : 'primary'} label={on ? 'Disable console' : 'Enable console'} />
    </ActForm>
  );
}; // biome-ignore format: short parts

const HowToOpen = ({ node, session }: Pick<ConsoleProps, 'node' | 'session'>) => (
  <section class="card" aria-labelledby="open-console">
    <h2 id="open-console">Open it in a terminal</h2>
    <pre>
      <Code value={`temper console ${node.name ?? node.uuid}`} />
    </pre>
    <p class="muted">
      The command gets a ticket for one session of at most an hour, and connects to a worker. Type ~. at the start of a line to end it.
    </p>
    <Switch node={node} session={session} />
  </section>
); // biome-ignore format: short parts

export const NodeConsole = (props: ConsoleProps) => {
  const { node, session } = props;
  const obstacle = obstacleOf(props);
  return (
    <>
      {obstacle && <Notice tone="wait" says={obstacle} />}
      {!obstacle && node.console_enabled && <HowToOpen node={node} session={session} />}
      {!obstacle && !node.console_enabled && (
        <Empty icon="server" title="The serial console is disabled.">
          <p>Enable it first. A worker then keeps a connection to the BMC.</p>
          <Switch node={node} session={session} />
        </Empty>
      )}
      <Facts
        rows={[
          ['Console interface', interfaceOf({ ...node, driver: node.driver ?? '' }, 'console')],
          ['Enabled', node.console_enabled ? 'yes' : 'no'],
          ['Driver', node.driver],
        ]}
      />
    </>
  );
};
