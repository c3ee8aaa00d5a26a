/** Context of a command: API client, output and shared options. */
import type { Command } from 'commander';
import { type Client, createApiClient } from './access/client';
import type { CliDeps } from './deps';
import { jsonText } from './tables';

export type Context = {
  readonly deps: CliDeps;
  readonly api: Client;
  readonly json: boolean;
  /** Terminal's width in characters; undefined for a file or a pipe. */
  readonly width: number | undefined;
  /** Prints JSON with --json, else text. */
  print<T>(value: T, toText: (value: T) => string): void;
  /** Sets the exit status of a command that ends without a fault. */
  end(status: number): void;
};

type Shared = { readonly json?: boolean; readonly osCloud?: string };

export type Acting = <Args extends unknown[]>(
  act: (context: Context, ...args: Args) => Promise<void>,
) => (...given: unknown[]) => Promise<void>;

export const actingWith =
  (deps: CliDeps, end: (status: number) => void): Acting =>
  (act) =>
  async (...given) => {
    // Commander passes arguments, then options, then the command.
    const command = given.at(-1) as Command;
    const { json = false, osCloud } = command.optsWithGlobals<Shared>();
    const print: Context['print'] = (value, toText) => deps.out(json ? `${jsonText(value, 2)}\n` : toText(value));
    const context: Context = {
      deps,
      api: createApiClient(deps, osCloud),
      json,
      width: deps.terminal?.columns,
      print,
      end,
    };
    await act(context, ...(given.slice(0, -1) as never));
  };
