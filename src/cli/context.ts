/** Context of a command: the API client, output in two forms, and the shared options. */
import type { Command } from 'commander';
import { type Client, createApiClient } from './client';
import type { CliDeps } from './deps';
import { jsonText } from './tables';

export type Context = {
  readonly deps: CliDeps;
  readonly api: Client;
  readonly json: boolean;
  /** Terminal width in characters; undefined for a file or a pipe. */
  readonly width: number | undefined;
  /** Prints the value as JSON with --json, else as text. */
  print<T>(value: T, toText: (value: T) => string): void;
  /** Sets the exit status of a command that ends without a fault. */
  end(status: number): void;
};

type Shared = { readonly json?: boolean; readonly osCloud?: string };

/** A command's action, with the context before its arguments and options. */
export type Acting = <Args extends unknown[]>(
  act: (context: Context, ...args: Args) => Promise<void>,
) => (...given: unknown[]) => Promise<void>;

/** @param end receives the exit status */
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
