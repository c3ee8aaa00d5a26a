/** `temper console`: a node's serial line on the terminal or in a pipe. */
import { type ClientRequest, type IncomingMessage, request as overHttp } from 'node:http';
import { request as overHttps } from 'node:https';
import type { Socket } from 'node:net';
import type { Command } from 'commander';
import { errorSentence } from '../../model/error-texts';
import type { ConsoleTicket } from '../../wire/installation';
import type { Acting, Context } from '../context';
import { stop } from '../faults';
import { plainText } from '../tables';

const connectMs = 60_000;
const longestRefusal = 4_096;

/** Finds `~.` at the start of a line, as ssh and ipmitool do; `~~` there is one `~`. @returns bytes to send, and true at the end */
export const escapes = (): ((typed: Buffer) => { readonly send: Buffer; readonly ends: boolean }) => {
  const [tilde, dot, returned, newline] = [0x7e, 0x2e, 0x0d, 0x0a];
  let atStart = true;
  let pending = false;
  return (typed) => {
    const send: number[] = [];
    for (const byte of typed) {
      if (pending) {
        pending = false;
        if (byte === dot) return { send: Buffer.from(send), ends: true };
        if (byte !== tilde) send.push(tilde);
      } else if (atStart && byte === tilde) {
        pending = true;
        continue;
      }
      send.push(byte);
      atStart = byte === returned || byte === newline;
    }
    return { send: Buffer.from(send), ends: false };
  };
};

const refusal = (response: IncomingMessage, fail: (thrown: unknown) => void): void => {
  let text = '';
  const end = () => {
    try {
      stop('refused', `${plainText(errorSentence(text) ?? text.trim())} (HTTP ${response.statusCode})`);
    } catch (fault) {
      fail(fault);
    }
  };
  response.setEncoding('utf8').on('data', (chunk: string) => {
    text = `${text}${chunk}`.slice(0, longestRefusal);
  });
  response.on('end', end).on('error', end);
};

/** Throws CliFault (refused, unreachable). */
const connect = ({ url, ticket }: ConsoleTicket, signal: AbortSignal): Promise<{ socket: Socket; head: Buffer }> =>
  new Promise((done, fail) => {
    const ask = new URL(url).protocol === 'https:' ? overHttps : overHttp;
    const headers = { connection: 'Upgrade', upgrade: 'temper-console', authorization: `Bearer ${ticket}` };
    const asked: ClientRequest = ask(url, { headers, timeout: connectMs, signal });
    asked.on('upgrade', (_, socket, head) => {
      socket.setTimeout(0);
      done({ socket, head });
    });
    asked.on('response', (response) => refusal(response, fail));
    asked.on('timeout', () => asked.destroy(new Error('it did not answer in time')));
    asked.on('error', (error) => {
      try {
        stop('unreachable', `The console at ${plainText(url)} did not answer: ${error.message}.`);
      } catch (fault) {
        fail(fault);
      }
    });
    asked.end();
  });

const readConsole = async ({ api, deps }: Context, node: string): Promise<void> => {
  const { keyboard, screen } = deps;
  if (!keyboard || !screen) return stop('usage', 'There is no input or output to connect the console with.');
  const ticket = (await api.send('POST', `/temper/v1/nodes/${encodeURIComponent(node)}/console`)) as ConsoleTicket;
  const { socket, head } = await connect(ticket, deps.signal);
  const filter = escapes();
  const raw = keyboard.isTTY === true;
  const type = (typed: Buffer) => {
    // Only a terminal has an escape sequence; a pipe's bytes pass unchanged.
    const { send, ends } = raw ? filter(typed) : { send: typed, ends: false };
    if (send.length > 0) socket.write(send);
    if (ends) socket.end();
  };
  const leave = () => socket.destroy();
  deps.signal.addEventListener('abort', leave, { once: true });
  if (raw) {
    deps.err('Connected; ~. at the start of a line ends it.\n');
    keyboard.setRawMode?.(true);
  }
  try {
    screen.write(head);
    socket.on('data', (bytes: Buffer) => {
      if (screen.write(bytes)) return;
      socket.pause();
      screen.once('drain', () => socket.resume());
    });
    keyboard.on('data', type).resume();
    await new Promise<void>((done) => socket.on('close', () => done()).on('error', () => undefined));
  } finally {
    keyboard.off('data', type).pause();
    if (raw) keyboard.setRawMode?.(false);
    deps.signal.removeEventListener('abort', leave);
  }
};

export const addConsole = (program: Command, acting: Acting): void => {
  program
    .command('console <node>')
    .description('read and type on a node’s serial line; ~. at the start of a line ends it')
    .action(acting(readConsole));
};
