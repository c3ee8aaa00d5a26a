/** A restored database, from the backup to the end of the recovery. */
import { sequence } from './sequence';

/** docs/diagrams/restore.svg */
export const renderRestore = (): string =>
  sequence({
    name: 'restore',
    title: 'A restore of PostgreSQL',
    about:
      'The operator stops all processes, restores the dump and runs migrate with --restored store. Control workers and the API start ' +
      'and are in recovery: reads are answered, changes are refused with 503, and no command goes to a BMC. The operator runs temper ' +
      'recover, which lists what it would do, then temper recover --yes. Temper compares its records with the workflows of Temporal, ' +
      'reads the power states of affected nodes, and ends the recovery. Runs continue.',
    lanes: ['Operator', 'Temper', 'PostgreSQL', 'Temporal', 'BMCs'],
    rows: [
      { from: 'Operator', to: 'Temper', says: '1  stop all processes' },
      { from: 'Operator', to: 'PostgreSQL', says: '2  pg_restore, then migrate --restored store' },
      { from: 'Operator', to: 'Temper', says: '3  start' },
      {
        over: 'Temper',
        until: 'BMCs',
        note: 'recovery: reads are answered, changes get 503, BMCs get no command',
        tone: 'wait',
      },
      { from: 'Operator', to: 'Temper', says: '4  temper recover' },
      { from: 'Temper', to: 'Operator', says: 'what it would do' },
      { from: 'Operator', to: 'Temper', says: '5  recover --yes' },
      { from: 'Temper', to: 'Temporal', says: 'compare workflows with runs' },
      { from: 'Temper', to: 'BMCs', says: 'read power of affected nodes' },
      { from: 'Temper', to: 'PostgreSQL', says: 'correct records' },
      {
        over: 'Temper',
        until: 'BMCs',
        note: 'runs continue; nodes with an unknown run are in maintenance',
        tone: 'good',
      },
    ],
  });
