/** What the ramdisk is asked to do, how its answer is judged, and what cannot be known of it. */
import { sha256Of } from '../../model/digests';
import { raise, TemperError } from '../../model/errors';
import type { AgentClient } from './client';
import { type Command, errorTextOf } from './replies';

export type Order = {
  /** With its extension: `standby.prepare_image`. */
  readonly name: string;
  /** For operators and errors: `write the image`. */
  readonly what: string;
  /** What makes two orders the same; only its digest is kept. */
  readonly identity: unknown;
  /** Made only when it is posted. */
  readonly params: () => Promise<Readonly<Record<string, unknown>>> | Readonly<Record<string, unknown>>;
  /** `once`: a command that a restart of the ramdisk has wiped out is never posted again. */
  readonly effect: 'once' | 'converge';
  /** Whether the ramdisk serves no requests any more once it is done. */
  readonly closes?: true;
  /** Whether a finished command without an intent is this one all the same. */
  readonly fits?: (command: Command) => boolean;
};

export const isRunning = ({ command_status }: Command): boolean => command_status === 'RUNNING';

/** Of what makes two orders the same. */
export const orderDigest = (order: Order): string => sha256Of(JSON.stringify([order.name, order.identity]));

/** Throws what the command's failure amounts to. */
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
        'the ramdisk has other versions of its hardware managers than when it listed its steps; start anew',
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

/** A command that the ramdisk does not take is the step's failure, not the connection's. */
export const refusal = (client: AgentClient, order: Order, error: TemperError): TemperError =>
  error.code === 'AgentRejected' && Number(error.facts.status) >= 400
    ? new TemperError(
        'StepRejected',
        client.facts({ step: order.what, reason: `the ramdisk refused: ${error.facts.reason}` }),
      )
    : error;
