/** `temper incidents`: faulty nodes by what they share. */
import type { Command } from 'commander';
import type { Incidents } from '../../wire/installation';
import type { Acting, Context } from '../context';
import { listing } from '../tables';

type Row = Incidents['incidents'][number];

const mostNamed = 5;

const sharesText = ({ rack, power_feed, conductor_group, driver }: Row['shares']): string =>
  Object.entries({ rack, feed: power_feed, group: conductor_group, driver })
    .filter(([, value]) => value)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ');

const nodesText = ({ count, nodes }: Row): string => {
  const named = nodes.slice(0, mostNamed).map(({ name, uuid }) => name ?? uuid);
  return count > named.length ? `${named.join(' ')} and ${count - named.length} more` : named.join(' ');
};

const incidentTable = listing<Row>('nodes with a fault', ['SINCE', 'NODES', 'FAULT', 'THEY SHARE', 'WHICH'], (one) => [
  one.since,
  one.count,
  Object.keys(one.fault).join(', '),
  sharesText(one.shares),
  nodesText(one),
]);

const listIncidents = async (
  { api, deps, print, width }: Context,
  { minutes }: { readonly minutes?: string },
): Promise<void> => {
  const query = minutes === undefined ? '' : `?${new URLSearchParams({ minutes })}`;
  const found = (await api.send('GET', `/temper/v1/incidents${query}`)) as Incidents;
  print(found, ({ incidents }) => incidentTable(incidents, width));
  if (!found.complete) deps.err('temper: There are more incidents or faults than are shown.\n');
};

export const addIncidents = (program: Command, acting: Acting): void => {
  program
    .command('incidents')
    .description('nodes with a fault, by what they share and when it began')
    .option('--minutes <number>', 'the longest time between two faults of one incident, 10 when absent')
    .action(acting(listIncidents));
};
