/** Reading many small parts of a node, where one that the BMC errs over must not spoil the rest. */
import type { z } from 'zod';
import { isTemperError, type TemperError } from '../../../model/errors';
import type { Client, ReadResource } from '../transport/client';
import { membersOf } from './discovery';

/** One resource and where it is. */
export type FoundPart<T> = ReadResource<T> & { readonly path: string };

export type Parts = {
  /** What was not to be had, in order: the BMC answered, and not with that. */
  readonly troubles: readonly TemperError[];
  /** What `read` finds; undefined where the BMC errs over it. Throws where it is silent or leads elsewhere. */
  part<T>(read: () => Promise<T>): Promise<T | undefined>;
  /** The members of a collection that can be read, one after the other: BMCs are slow, and others wait too. */
  members<T>(path: string | undefined, schema: z.ZodType<T>): Promise<FoundPart<T>[]>;
  /** The same for links that are known already. */
  each<T>(paths: readonly string[], schema: z.ZodType<T>): Promise<FoundPart<T>[]>;
};

const answered: readonly string[] = ['BmcServerError', 'BmcRejected', 'BmcBusy', 'BmcUnsupported'];

/** A link to another host is no missing part: the answer is forged. */
const isAnswer = (error: unknown): error is TemperError =>
  isTemperError(error) && answered.includes(error.code) && error.facts.status !== 'link';

// No node has more of anything; a BMC that lists more does not mean well.
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
