/** Context of a command: API client, output and shared options. */
import type { Command } from 'commander';
import { type Client, createApiClient } from './access/client';
import type { CliDeps, Installation } from './deps';
import { stop } from './faults';
import { listText, outputOf, recordText, withoutFormats } from './formats';
import type { Listing } from './tables';

export type Context = {
  readonly deps: CliDeps;
  readonly api: Client;
  /** Throws CliFault (usage) in the client package. */
  installation(): Installation;
  /** For commands that print while they run. */
  readonly json: boolean;
  /** Terminal's width in characters; undefined for a file or a pipe. */
  readonly width: number | undefined;
  /** Prints one record in the chosen format; `toText` is the format `table`. */
  print<T>(value: T, toText: (value: T) => string): void;
  /** Prints rows of an answer in the chosen format. */
  printRows<Row>(answer: unknown, rows: readonly Row[], listing: Listing<Row>): void;
  /** Sets the exit status of a command that ends without a fault. */
  end(status: number): void;
};

const clientOnly =
  'This is the client package, which can only call the API. Run this command on a host with the Temper package or image.';

type Shared = { readonly osCloud?: string };

export type Acting = <Args extends unknown[]>(
  act: (context: Context, ...args: Args) => Promise<void>,
) => (...given: unknown[]) => Promise<void>;

export const actingWith =
  (deps: CliDeps, end: (status: number) => void): Acting =>
  (act) =>
  async (...given) => {
    // Commander passes arguments, then options, then the command.
    const command = given.at(-1) as Command;
    const { osCloud } = command.optsWithGlobals<Shared>();
    const output = outputOf(command);
    const width = deps.terminal?.columns;
    const context: Context = {
      deps,
      api: createApiClient(deps, osCloud),
      installation: () => deps.installation ?? stop('usage', clientOnly),
      json: output.format === 'json',
      width,
      print: (value, toText) => deps.out(recordText(output, value, toText)),
      printRows: (answer, rows, listing) => deps.out(listText(output, answer, rows, listing, width)),
      end,
    };
    const own = withoutFormats(command, command.opts());
    await act(context, ...([...given.slice(0, -2), own] as never));
  };
