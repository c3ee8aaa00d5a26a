/** One ramdisk's commands: one at a time, remembered as long as it lives. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { CommandFault, type CommandRow, commandRow, NotTaken, type Params } from './commands';
import type { Faults } from './faults';
import type { AgentEntry, AgentTiming, WireCommand } from './types';

type Ended = NonNullable<CommandRow['leaves']>;

export type ExecutorDeps = {
  readonly mac: string;
  readonly timing: AgentTiming;
  readonly faults: Faults;
  /** Aborts when the machine goes down. */
  readonly signal: AbortSignal;
  journal(entry: Omit<AgentEntry, 'seq' | 'time' | 'mac' | 'node_uuid'>): AgentEntry;
  /** A command has ended that ran in the background. */
  finished(): void;
  /** What a command did to the machine. */
  becomes(what: Ended): void;
};

export type Executor = {
  list(): readonly WireCommand[];
  get(id: string): WireCommand | undefined;
  /** Resolves when the command has ended. */
  join(id: string): Promise<void>;
  /** Throws NotTaken. */
  take(name: string, params: Params): WireCommand;
  /** Another process has taken over: nothing is remembered. */
  forget(): void;
};

const stepName = ({ step }: Params): string | null => {
  const { interface: name, step: what } = (step ?? {}) as { interface?: string; step?: string };
  return what === undefined ? null : `${name}.${what}`;
};

const formatGiven = ({ image_info }: Params): { format?: string } => {
  const format = (image_info as Params | undefined)?.disk_format;
  return typeof format === 'string' ? { format } : {};
};

const given = (params: Params): string[] =>
  Object.keys(params).filter((name) => params[name] !== null && params[name] !== undefined);

const failureOf = (thrown: unknown): Pick<WireCommand, 'command_status' | 'command_error'> => {
  const fault = thrown instanceof CommandFault ? thrown : new CommandFault('CommandExecutionError', String(thrown));
  const command_error = { type: fault.type, code: 500, message: 'Command execution failed', details: fault.details };
  return { command_status: fault.status, command_error };
};

const oddStep = {
  interface: 'deploy',
  step: 'wipe\0all\n',
  priority: 1,
  argsinfo: { 'how\0': { description: 'so \ud83d' } },
};

export const createExecutor = (deps: ExecutorDeps): Executor => {
  const { mac, faults, timing, signal } = deps;
  let commands: WireCommand[] = [];
  const running = new Map<string, Promise<void>>();

  /** The result, or what a fault makes of it. */
  const resultOf = (row: CommandRow, params: Params, name: string): WireCommand['command_result'] => {
    switch (faults.strike(mac, ['step-fails', 'version-mismatch', 'odd-result', 'odd-texts'], { name })) {
      case 'step-fails':
        throw new CommandFault('CommandExecutionError', 'a fault was asked for');
      case 'version-mismatch':
        throw new CommandFault('VersionMismatch', 'a fault was asked for', 'CLEAN_VERSION_MISMATCH');
      case 'odd-result':
        return { clean_steps: 7, clean_step: 'none', deploy_steps: 'none', service_steps: null };
      case 'odd-texts':
        return { clean_steps: [oddStep], hardware_manager_version: { 'a\0': '\ud800' } };
      default:
        return row.result(params);
    }
  };

  const end = (command: WireCommand, entry: AgentEntry, row: CommandRow, params: Params, name: string): void => {
    try {
      command.command_result = resultOf(row, params, name);
      command.command_status = 'SUCCEEDED';
      if (row.leaves) deps.becomes(row.leaves);
    } catch (thrown) {
      Object.assign(command, failureOf(thrown));
    }
    entry.status = command.command_status;
  };

  const inBackground = async (ms: number, work: () => void, name: string): Promise<void> => {
    if (faults.strike(mac, ['stuck'], { name })) return;
    // The machine going down ends the wait, and the command never ends.
    const alive = await sleep(ms, true, { signal }).catch(() => false);
    if (!alive) return;
    work();
    deps.finished();
  };

  return {
    list: () => commands,
    get: (id) => commands.find((command) => command.id === id),
    join: (id) => running.get(id) ?? Promise.resolve(),
    forget: () => {
      commands = [];
    },
    take(name, params) {
      const last = commands.at(-1);
      if (last?.command_status === 'RUNNING')
        throw new NotTaken(409, `Agent is busy: executing command ${last.command_name}`);
      const row = commandRow(name);
      row.check?.(params);
      const command: WireCommand = {
        id: randomUUID(),
        command_name: name.replace(/^.*\./, ''),
        command_status: 'RUNNING',
        command_error: null,
        command_result: null,
      };
      commands.push(command);
      const about = {
        ...{ id: command.id, command: name, step: stepName(params), given: given(params) },
        destructive: row.destructive ?? false,
        ...formatGiven(params),
      };
      const entry = deps.journal({ ...about, status: null });
      const work = () => end(command, entry, row, params, `${name} ${about.step ?? ''}`);
      if (row.sync) work();
      else
        running.set(
          command.id,
          inBackground(row.takes ? (timing[row.takes] ?? 0) : 0, work, `${name} ${about.step ?? ''}`),
        );
      return command;
    },
  };
};
