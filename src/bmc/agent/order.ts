/** Orders to the ramdisk and the judgement of their results. */
import { sha256Of } from '../../model/digests';
import { raise, TemperError } from '../../model/errors';
import type { AgentClient } from './client';
import { type Command, errorTextOf } from './replies';

export type Order = {
  /** Command with its extension, like `standby.prepare_image`. */
  readonly name: string;
  /** For operators and errors: `write the image`. */
  readonly what: string;
  /** Equal for equal orders; only its digest is kept. */
  readonly identity: unknown;
  readonly params: () => Promise<Readonly<Record<string, unknown>>> | Readonly<Record<string, unknown>>;
  /** `once`: never posted again if a restart has lost the command. */
  readonly effect: 'once' | 'converge';
  /** The ramdisk serves no requests after this order. */
  readonly closes?: true;
  /** True if a finished command without an intent is this order's. */
  readonly fits?: (command: Command) => boolean;
};

export const isRunning = ({ command_status }: Command): boolean => command_status === 'RUNNING';

export const orderDigest = (order: Order): string => sha256Of(JSON.stringify([order.name, order.identity]));

export const judged = (client: AgentClient, order: Order, command: Command): Command => {
  const refuse = (reason: string) => raise('StepRejected', client.facts({ step: order.what, reason }));
  switch (command.command_status) {
    case 'SUCCEEDED':
      return command;
    case 'FAILED':
      return refuse(`the ramdisk failed: ${errorTextOf(command.command_error)}`);
    case 'VERSION_MISMATCH':
    case 'CLEAN_VERSION_MISMATCH':
      return refuse(
        'the ramdisk has other versions of its hardware managers than when it listed its steps; start again',
      );
    default:
      return refuse(`the ramdisk ended it with the unknown status ${command.command_status}`);
  }
};

/** Throws StepOutcomeUnknown. */
export const unknown = (
  client: AgentClient,
  order: Order,
  reason = 'the ramdisk has restarted since and remembers no commands',
): never => raise('StepOutcomeUnknown', client.facts({ step: order.what, reason }));

/** A refused command fails the step, not the connection. */
export const refusal = (client: AgentClient, order: Order, error: TemperError): TemperError =>
  error.code === 'AgentRejected' && Number(error.facts.status) >= 400
    ? new TemperError(
        'StepRejected',
        client.facts({ step: order.what, reason: `the ramdisk refused: ${error.facts.reason}` }),
      )
    : error;
