/** `temper search`: objects by the beginning of a name, an address or an id. */
import type { Command } from 'commander';
import type { Found } from '../../wire/installation';
import type { Acting, Context } from '../context';
import { listing, plainText } from '../tables';

type FoundRow = readonly [kind: string, name: string | null, id: string, state: string, by: string];

const rowsOf = ({ nodes, runs, rollouts, runbooks, projects }: Found): FoundRow[] => [
  ...nodes.map((one): FoundRow => ['node', one.name, one.uuid, one.fault ?? one.provision_state, `${one.matched} ${one.value}`]),
  ...runs.map((one): FoundRow => ['run', `${one.verb} of ${one.node_name ?? one.node_uuid}`, one.uuid, one.state, '']),
  ...rollouts.map((one): FoundRow => ['rollout', one.name, one.uuid, one.state, '']),
  ...runbooks.map((one): FoundRow => ['runbook', one.name, one.uuid, '', '']),
  ...projects.map((one): FoundRow => ['project', one.name, one.id, '', '']),
]; // biome-ignore format: one kind a row

const foundTable = listing<FoundRow>('objects', ['KIND', 'NAME', 'UUID', 'STATE', 'FOUND BY'], (row) => row);

const search = async ({ api, deps, print, width }: Context, text: string): Promise<void> => {
  const found = (await api.send('GET', `/temper/v1/search?${new URLSearchParams({ q: text })}`)) as Found;
  print(found, (all) => foundTable(rowsOf(all), width));
  if (found.more.length > 0)
    deps.err(`temper: There are more ${plainText(found.more.join(', '))}; give more of the text.\n`);
};

export const addSearch = (program: Command, acting: Acting): void => {
  program
    .command('search')
    .description('find nodes, runs, rollouts, runbooks and projects that you may see')
    .argument('<text>', 'beginning of a name, UUID, MAC address, serial number or rack')
    .action(acting(search));
};
