/** Reads of many small parts of a node; one failed read must not spoil the others. */
import type { z } from 'zod';
import { isTemperError, type TemperError } from '../../../model/errors';
import type { Client, ReadResource } from '../transport/client';
import { membersOf } from './discovery';

export type FoundPart<T> = ReadResource<T> & { readonly path: string };

export type Parts = {
  /** Errors of failed reads, in order. */
  readonly troubles: readonly TemperError[];
  /** Undefined if the BMC answers with an error. Throws without an answer, or for a link to another host. */
  part<T>(read: () => Promise<T>): Promise<T | undefined>;
  /** Reads one after the other, because BMCs are slow and have other clients. */
  members<T>(path: string | undefined, schema: z.ZodType<T>): Promise<FoundPart<T>[]>;
  each<T>(paths: readonly string[], schema: z.ZodType<T>): Promise<FoundPart<T>[]>;
};

const answered: readonly string[] = ['BmcServerError', 'BmcRejected', 'BmcBusy', 'BmcUnsupported'];

/** A link to another host is no missing part: the answer is forged. */
const isAnswer = (error: unknown): error is TemperError =>
  isTemperError(error) && answered.includes(error.code) && error.facts.status !== 'link';

// No node has more; a BMC that lists more is malicious.
const mostMembers = 256;

export const createParts = (client: Client): Parts => {
  const troubles: TemperError[] = [];

  const part: Parts['part'] = async (read) => {
    try {
      return await read();
    } catch (error) {
      client.context.signal.throwIfAborted();
      if (!isAnswer(error)) throw error;
      troubles.push(error);
      return undefined;
    }
  };

  const each: Parts['each'] = async (paths, schema) => {
    const found = [];
    for (const path of new Set(paths.slice(0, mostMembers))) {
      client.context.beat({ what: 'read the node', doing: 'reading', part: path });
      const read = await part(() => client.find(path, schema));
      if (read) found.push({ ...read, path });
    }
    return found;
  };

  return {
    troubles,
    part,
    each,
    members: async (path, schema) => each((await part(() => membersOf(client, path))) ?? [], schema),
  };
};
