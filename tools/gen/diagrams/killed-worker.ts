/** A run whose worker is killed while a command is in progress. */
import { sequence } from './sequence';

/** docs/diagrams/killed-worker.svg */
export const renderKilledWorker = (): string =>
  sequence({
    name: 'killed-worker',
    title: 'A run that survives kill -9',
    about:
      'Temporal gives an act to BMC worker A. The worker checks the fence in PostgreSQL, writes the intent, sends the reset to the ' +
      'BMC, and is killed. Its heartbeat stops. After 20 seconds Temporal gives the act to BMC worker B, which finds the intent, ' +
      'reads the power state, sends no second reset, and records the end of the act. The BMC received one command.',
    lanes: ['Temporal', 'BMC worker A', 'BMC worker B', 'PostgreSQL', 'BMC'],
    rows: [
      { from: 'Temporal', to: 'BMC worker A', says: 'act: power off' },
      { from: 'BMC worker A', to: 'PostgreSQL', says: 'begin: check fence, write intent' },
      { from: 'BMC worker A', to: 'BMC', says: 'the command, once' },
      { over: 'BMC worker A', note: 'kill -9', tone: 'bad' },
      { over: 'Temporal', until: 'BMC worker A', note: 'no heartbeat for 20 s: the act is tried again', tone: 'wait' },
      { from: 'Temporal', to: 'BMC worker B', says: 'act, second try' },
      { from: 'BMC worker B', to: 'PostgreSQL', says: 'finds the intent' },
      { from: 'BMC worker B', to: 'BMC', says: 'reads the power state' },
      { over: 'BMC worker B', until: 'BMC', note: 'in progress or done: no second command', tone: 'good' },
      { from: 'BMC worker B', to: 'PostgreSQL', says: 'records the end of the act' },
      { from: 'BMC worker B', to: 'Temporal', says: 'done: the next act' },
    ],
  });
