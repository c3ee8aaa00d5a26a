/** Commands that `temper image` and `temper ramdisk` share. */
import type { Command } from 'commander';
import type { Acting, Context } from '../context';
import { withFormats } from '../formats';
import { keyLines, listing, plainText } from '../tables';

type Kind<One> = {
  /** The kind's word in the API path. */
  readonly resource: string;
  readonly headings: readonly string[];
  cells(one: One): readonly unknown[];
  /** Description of the command `remove`. */
  readonly removal: string;
  removed(name: string): string;
};

export const bootRecords = <One extends object>({ resource, headings, cells, removal, removed }: Kind<One>) => {
  const things = `${resource}s`;
  const path = `/temper/v1/${things}`;
  const pathOf = (name: string): string => `${path}/${encodeURIComponent(name)}`;
  const tableOf = listing<One>(things, headings, cells);

  const list = async ({ api, printRows }: Context): Promise<void> => {
    const answer = (await api.send('GET', path)) as Record<string, One[]>;
    printRows(answer, answer[things]!, tableOf);
  };
  const show = async ({ api, print }: Context, name: string): Promise<void> =>
    print((await api.send('GET', pathOf(name))) as One, keyLines);
  const remove = async ({ api, print }: Context, name: string): Promise<void> => {
    await api.send('DELETE', pathOf(name));
    print({ name }, () => `${removed(plainText(name))}\n`);
  };

  return {
    async create({ api, print }: Context, values: object): Promise<void> {
      print((await api.send('POST', path, values)) as One, keyLines);
    },

    addTo(command: Command, acting: Acting): void {
      withFormats(command.command('list').description(`all ${things}`)).action(acting(list));
      withFormats(command.command('show').description(`one ${resource}`).argument('<name>')).action(acting(show));
      command.command('remove').description(removal).argument('<name>').action(acting(remove));
    },
  };
};
