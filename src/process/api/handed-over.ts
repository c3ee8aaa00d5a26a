/**
 * Connections that the first process hands to another. Node keeps its own end of one until the other says that it took it
 * (nodejs/node:lib/internal/cluster/round_robin_handle.js, `handoff`): of a process that is killed before that it keeps it for
 * good, and the client waits for an answer that nothing will send.
 */
import type { ChildProcess } from 'node:child_process';
import type { Worker } from 'node:cluster';

/** A message of Node's own between processes of a cluster. */
type Internal = { readonly act?: string; readonly seq?: number; readonly ack?: number };
type Handle = { readonly close?: () => void };

const isInternal = (message: unknown): message is Internal => typeof message === 'object' && message !== null;

/** Closes, at the end of a process, the connections that it never took. It may have read of them: another one would serve half a request. */
export const closeUntaken = ({ process: child }: Worker): void => {
  const untaken = new Map<number, Handle>();
  const send = child.send.bind(child) as (...sent: unknown[]) => boolean;
  const noting = (...sent: unknown[]): boolean => {
    const [message, handle] = sent;
    if (isInternal(message) && message.act === 'newconn' && message.seq !== undefined)
      untaken.set(message.seq, handle as Handle);
    return send(...sent);
  };
  child.send = noting as ChildProcess['send'];
  child.on('internalMessage', (message: unknown) => {
    if (isInternal(message) && message.ack !== undefined) untaken.delete(message.ack);
  });
  child.once('exit', () => {
    for (const handle of untaken.values()) handle?.close?.();
    untaken.clear();
  });
};
