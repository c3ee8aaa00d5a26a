/** `temper windows`: weekly hours in which a project permits rollouts of others on its nodes. */
import type { Command } from 'commander';
import type { ProjectWindow } from '../../wire/records';
import { type PageOptions, pageOptions, printPage } from '../access/pages';
import type { Acting, Context } from '../context';
import { stop } from '../faults';
import { spanMs } from '../spans';
import { listing, plainText } from '../tables';

type WindowOptions = {
  readonly project?: string;
  readonly days: string;
  readonly from: string;
  readonly for: string;
  readonly zone: string;
};

const windowsPath = '/temper/v1/windows';

const windowTable = listing<ProjectWindow>(
  'windows',
  ['WINDOW', 'NAME', 'PROJECT', 'DAYS', 'FROM', 'MINUTES', 'ZONE', 'NOW'],
  (one) => [
    one.uuid,
    one.name,
    one.project,
    one.days.join(','),
    one.from,
    one.minutes,
    one.zone,
    one.open ? `open until ${one.closes_at}` : `opens at ${one.opens_at}`,
  ],
);

const windowList = { path: windowsPath, rows: 'windows' };
const listWindows = (context: Context, page: PageOptions): Promise<void> =>
  printPage(context, windowList, page, windowTable);

const addWindow = async ({ api, print, width }: Context, name: string, given: WindowOptions): Promise<void> => {
  const ms = spanMs(given.for) ?? stop('usage', '--for must be such as 90m or 4h.');
  const { project, from, zone } = given;
  const days = given.days.split(',').map((day) => day.trim().toLowerCase());
  const body = { name, days, from, minutes: Math.floor(ms / 60_000), zone, ...(project !== undefined && { project }) };
  print((await api.send('POST', windowsPath, body)) as ProjectWindow, (row) => windowTable([row], width));
};

const deleteWindow = async ({ api, print }: Context, window: string): Promise<void> => {
  await api.send('DELETE', `${windowsPath}/${encodeURIComponent(window)}`);
  print({ uuid: window }, ({ uuid }) => `Window ${plainText(uuid)} is deleted.\n`);
};

export const addWindows = (program: Command, acting: Acting): void => {
  const windows = program
    .command('windows')
    .description('weekly hours in which a project lets rollouts of others work on its nodes');
  pageOptions(windows.command('list').description('those you may see, and when each opens'), 'window').action(
    acting(listWindows),
  );
  windows
    .command('add')
    .description('add one to your project')
    .argument('<name>')
    .requiredOption('--days <days>', 'on which it begins: sat,sun')
    .requiredOption('--from <time>', 'by the clock of its zone: 22:00')
    .requiredOption('--for <span>', 'how long it lasts: 90m, 4h')
    .requiredOption('--zone <zone>', 'such as Europe/Berlin')
    .option('--project <project>', 'your project if absent')
    .action(acting(addWindow));
  windows.command('delete').description('delete one').argument('<window>', 'its UUID').action(acting(deleteWindow));
};
